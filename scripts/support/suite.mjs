// Runs the compiled test suite on one Node binary and says how it went.
import { spawn, spawnSync } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** A suite that hangs must not hold its caller. */
const LONGEST_RUN_MS = 10 * 60_000;

export function buildOnce() {
  const { status } = spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

/**
 * @param {string} node path of the binary; its folder comes first on PATH, so that child processes use it too
 * @param {{ quiet?: boolean }} options quiet: the output is shown only when the run fails
 */
export async function runSuite(node, { quiet = false } = {}) {
  const begun = performance.now();
  const child = spawn(node, [join(root, "node_modules/mocha/bin/mocha.js")], {
    cwd: root,
    env: { ...process.env, PATH: dirname(node) + delimiter + process.env.PATH, NODE: node, npm_node_execpath: node },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LONGEST_RUN_MS,
    killSignal: "SIGKILL",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      if (!quiet) process.stdout.write(text);
    });
  }
  const ended = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  const passed = count(output, "passing");
  const failed = count(output, "failing");
  // A suite that found no test proves nothing.
  const ok = ended === 0 && passed > 0;
  if (quiet && !ok) process.stdout.write(output);
  return { ok, passed, failed, ended, seconds: (performance.now() - begun) / 1000 };
}

function count(output, word) {
  return Number(new RegExp(`^ *(\\d+) ${word}\\b`, "m").exec(output)?.[1] ?? 0);
}
