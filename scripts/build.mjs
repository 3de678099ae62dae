#!/usr/bin/env node
// Compiles the TypeScript sources into dist/, bundles the worker entry and removes what no source stands behind any more.
//
//   node scripts/build.mjs [--verbose]
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const verbose = process.argv.includes("--verbose");

/** Every cell loads its entry, so it is one small file. */
const BUNDLES = [{ entry: "workers/host.ts", output: "dist/workers/host.cjs" }];

/** What tsc writes for one source, longest ending first. */
const OUTPUT_ENDINGS = [
  [".d.ts.map", ".ts"],
  [".d.ts", ".ts"],
  [".js.map", ".ts"],
  [".js", ".ts"],
  [".d.mts", ".mts"],
  [".mjs.map", ".mts"],
  [".mjs", ".mts"],
  [".d.cts", ".cts"],
  [".cjs.map", ".cts"],
  [".cjs", ".cts"],
];

/**
 * Keeps packages out of the bundle's source map, and so out of the coverage of ours: each gets a map of its own that
 * knows nothing but its first character.
 */
const unmappedPackages = {
  name: "unmapped-packages",
  setup({ onLoad }) {
    const map = btoa(JSON.stringify({ version: 3, sources: [""], mappings: "AAAA" }));
    onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, ({ path }) => ({
      contents: `${readFileSync(path, "utf8")}\n//# sourceMappingURL=data:application/json;base64,${map}`,
      loader: "default",
    }));
  },
};

removeOrphans(dist);
const compiled = compile();
const bundled = await Promise.all(BUNDLES.map(writeBundle));
process.exitCode = compiled && bundled.every(Boolean) ? 0 : 1;

/** Type errors fail the build but do not keep the other outputs from being written. */
function compile() {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { status, error } = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.json")], { stdio: "inherit" });
  if (error) throw error;
  return status === 0;
}

async function writeBundle({ entry, output }) {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: output,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    mainFields: ["module", "main"],
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: "linked",
    plugins: [unmappedPackages],
    legalComments: "eof",
    metafile: verbose,
    logLevel: "warning",
    write: false,
  }).catch(() => undefined); // esbuild has printed why
  if (!result) return false;
  for (const file of result.outputFiles) writeIfChanged(file.path, file.contents);
  if (verbose) printSizes(result.metafile);
  return true;
}

/** A cell that starts during a build must never read half a file, so an unchanged one is left alone. */
function writeIfChanged(path, contents) {
  if (existsSync(path) && readFileSync(path).equals(contents)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
}

function printSizes(metafile) {
  for (const [output, { bytes, inputs }] of Object.entries(metafile.outputs)) {
    console.log(`${output}  ${bytes} bytes`);
    for (const [input, { bytesInOutput }] of Object.entries(inputs)) console.log(`  ${bytesInOutput}  ${input}`);
  }
}

/** Outputs of sources that are gone: the tests among them would still run. */
function removeOrphans(folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      removeOrphans(path);
      if (readdirSync(path).length === 0) rmdirSync(path);
    } else if (isOrphan(path)) {
      rmSync(path, { force: true });
      if (verbose) console.log(`removed ${relative(root, path)}`);
    }
  }
}

function isOrphan(path) {
  const output = relative(root, path).replaceAll("\\", "/");
  const bundle = BUNDLES.find((each) => output === each.output || output === `${each.output}.map`);
  if (bundle) return !existsSync(join(root, bundle.entry));
  const ending = OUTPUT_ENDINGS.find(([compiledEnding]) => path.endsWith(compiledEnding));
  if (!ending) return false;
  const source = relative(dist, path).slice(0, -ending[0].length) + ending[1];
  return !existsSync(join(root, source));
}
