#!/usr/bin/env node
// Runs the test suite on every Node version that the package supports.
//
//   node scripts/test-matrix.mjs [--only 22,24] [--if-available]
//
// The versions are installed from npm into .cache/node-N; the Node at hand serves for its own version.
// --if-available: a version that cannot be installed is reported and does not count as a failure.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildOnce, root, runSuite } from "./support/suite.mjs";

const VERSIONS = ["20", "22", "24", "26"];

const { values: options } = parseArgs({
  options: { only: { type: "string" }, "if-available": { type: "boolean", default: false } },
});
const wanted = options.only?.split(",").map((version) => version.trim()) ?? VERSIONS;
const unknown = wanted.filter((version) => !VERSIONS.includes(version));
if (unknown.length > 0) {
  console.error(`Not in the matrix: ${unknown.join(", ")}. It holds ${VERSIONS.join(", ")}.`);
  process.exit(2);
}

buildOnce();
const rows = [];
for (const version of wanted) rows.push(await runOn(version));

console.log("");
console.log("node        passed  failed  seconds  result");
for (const { label, passed = "-", failed = "-", seconds, result } of rows) {
  const time = seconds === undefined ? "-" : seconds.toFixed(1);
  console.log(
    `${label.padEnd(10)}  ${String(passed).padStart(6)}  ${String(failed).padStart(6)}  ${time.padStart(7)}  ${result}`,
  );
}
process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;

async function runOn(version) {
  const node = binaryOf(version);
  const release = node && spawnSync(node, ["--version"], { encoding: "utf8" }).stdout?.trim().slice(1);
  if (!release) return { label: version, ok: options["if-available"], result: "not available" };
  console.log(`\n=== Node ${release}`);
  const run = await runSuite(node);
  const result = run.ok ? "ok" : run.ended === 0 ? "FAILED (no tests)" : `FAILED (${run.ended})`;
  return { ...run, label: release, result };
}

/** The path of the version's binary, or undefined where it cannot be had. */
function binaryOf(version) {
  if (process.versions.node.split(".")[0] === version) return process.execPath;
  const prefix = join(root, ".cache", `node-${version}`);
  const binary = join(prefix, "node_modules/node/bin", process.platform === "win32" ? "node.exe" : "node");
  if (!existsSync(binary)) install(`node@${version}`, prefix);
  return existsSync(binary) ? binary : undefined;
}

function install(name, prefix) {
  // Without a folder of its own, npm would take the checkout for the project to install into.
  mkdirSync(join(prefix, "node_modules"), { recursive: true });
  const args = ["install", "--prefix", prefix, "--no-save", "--no-package-lock", "--no-audit", "--no-fund", name];
  const npm = process.env.npm_execpath;
  const [command, given] = npm ? [process.execPath, [npm, ...args]] : ["npm", args];
  const { status } = spawnSync(command, given, { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) console.error(`${name} could not be installed.`);
}
