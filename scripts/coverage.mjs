#!/usr/bin/env node
// Runs the suite and tells how much of what ships it has run, mapped to TypeScript.
//
//   node scripts/coverage.mjs [options of c8]
//
// Cells that run under permission flags are counted where Node can reopen the inspector for them, from 24 on.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildOnce, root } from "./support/suite.mjs";

const BUNDLE = "dist/workers/host.cjs";
const countsCells = process.allowedNodeEnvironmentFlags.has("--allow-inspector");

buildOnce();
const excluded = ["dist/src", "dist/workers", "dist/tools"].flatMap(filesIn).filter(holdsTypesOnly);
// c8 takes what an unused bundle was made of for covered.
if (!countsCells) excluded.push(BUNDLE);
const [c8, mocha, cellCoverage] = [
  import.meta.resolve("c8/bin/c8.js"),
  import.meta.resolve("mocha/bin/mocha.js"),
  import.meta.resolve("./support/cell-coverage.mjs"),
].map(fileURLToPath);
const options = [...excluded.flatMap((path) => ["--exclude", path]), ...process.argv.slice(2)];
const args = [c8, ...options, process.execPath, mocha, "--require", cellCoverage];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
if (!countsCells) console.log(`Node ${process.version} counts no cells: what runs there alone shows as uncovered.`);
process.exitCode = status ?? 1;

function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name.replaceAll("\\", "/")}`);
}

/** Nothing loads such a file, so that c8 counts its lines as uncovered. */
function holdsTypesOnly(path) {
  if (!path.endsWith(".js")) return false;
  const code = readFileSync(join(root, path), "utf8").replace(/\/\*[^]*?\*\/|^\/\/.*$/gm, "");
  return code.trim() === "export {};";
}
