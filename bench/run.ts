/**
 * Runs the benchmarks.
 *
 * ```
 * npm run bench -- [names…] [--quick] [--save]
 * ```
 *
 * `--save` writes `bench/results/<name>.json`, and `bench/results/index.html`, a page of all that are there. A figure that
 * does not hold is printed and changes no exit code: a benchmark is not a timed test. One that fails or leaves
 * something open does.
 */
import { fork } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { machineFacts, machineLine } from "./support/machine.js";
import type { Finished } from "./support/one.js";
import { writePage } from "./support/results.js";

const NAMES = [
  "dispatch",
  "peers",
  "slow-neighbour",
  "activation",
  "cancel",
  "transfer",
  "cores",
  "plans",
  "memory",
  "event-loop",
] as const;

/** Milliseconds that one benchmark may take. */
const LIMIT_MS = 120_000;
/** Milliseconds after its report until it must have ended by itself. */
const LINGER_MS = 15_000;

const results = resolve("bench/results");
const runner = fileURLToPath(new URL("./support/one.js", import.meta.url));
const words = process.argv.slice(2);
const flags = words.filter((word) => word.startsWith("--"));
const chosen = words.filter((word) => !word.startsWith("--"));

const strange = [
  ...chosen.filter((name) => !(NAMES as readonly string[]).includes(name)),
  ...flags.filter((flag) => flag !== "--quick" && flag !== "--save"),
];
if (strange.length > 0) {
  process.stderr.write(`Unknown: ${strange.join(", ")}. Names: ${NAMES.join(", ")}. Flags: --quick, --save.\n`);
  process.exitCode = 2;
} else {
  await runAll(chosen.length > 0 ? chosen : NAMES);
}

async function runAll(names: readonly string[]): Promise<void> {
  process.stdout.write(`${machineLine(machineFacts())}\n`);
  const begin = performance.now();
  const broken: string[] = [];
  const failed: string[] = [];
  for (const name of names) {
    const { finished, problem } = await runOne(name);
    broken.push(...(finished?.broken ?? []));
    if (problem !== undefined) failed.push(`${name}: ${problem}`);
  }
  const seconds = Math.round((performance.now() - begin) / 1_000);
  process.stdout.write(`\n${names.length} benchmarks in ${seconds} s; ${broken.length} figures do not hold\n`);
  for (const line of broken) process.stdout.write(`  NO  ${line}\n`);
  for (const line of failed) process.stdout.write(`  failed  ${line}\n`);
  if (flags.includes("--save")) process.stdout.write(`${await writePage(results, NAMES)}\n`);
  if (failed.length > 0) process.exitCode = 1;
}

function runOne(name: string): Promise<{ finished: Finished | undefined; problem: string | undefined }> {
  const args = [name];
  if (flags.includes("--quick")) args.push("--quick");
  if (flags.includes("--save")) args.push(`--results=${results}`);
  const child = fork(runner, args, { execArgv: ["--expose-gc", ...process.execArgv] });
  let finished: Finished | undefined;
  let late: string | undefined;
  const stop = (reason: string) => () => {
    late = reason;
    child.kill("SIGKILL");
  };
  let timer = setTimeout(stop(`took more than ${LIMIT_MS} ms`), LIMIT_MS);
  child.once("message", (message) => {
    finished = message as Finished;
    clearTimeout(timer);
    timer = setTimeout(stop("left something open"), LINGER_MS);
  });
  return new Promise((done) => {
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      const problem = late ?? (code === 0 ? undefined : `ended with ${signal ?? `exit code ${code ?? "unknown"}`}`);
      done({ finished, problem });
    });
  });
}
