#!/usr/bin/env node
// Runs the test suite several times in a row and stops at the first failure: a test that fails once in ten is broken.
//
//   node scripts/repeat-tests.mjs [runs, 10 by default]
import { buildOnce, runSuite } from "./support/suite.mjs";

const runs = Number(process.argv[2] ?? 10);
if (!Number.isInteger(runs) || runs < 1) {
  console.error(`Not a number of runs: ${process.argv[2]}`);
  process.exit(2);
}

buildOnce();
for (let run = 1; run <= runs; run++) {
  const { ok, passed, failed, ended, seconds } = await runSuite(process.execPath, { quiet: true });
  console.log(`run ${run} of ${runs}: ${passed} passed, ${failed} failed, ${seconds.toFixed(1)} s`);
  if (!ok) {
    console.error(`Stopped at run ${run}; mocha ended with ${ended}.`);
    process.exit(1);
  }
}
