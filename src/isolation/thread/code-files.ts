/**
 * Which files a module needs to be loaded. A cell may read exactly these: its imports followed
 * one by one, and the folders of the packages it depends on. A folder that the module merely
 * lies in is not among them, since it may hold the host's secrets.
 */
import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, extname, join, parse as parsePath, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { init, parse } from "es-module-lexer";
import { exports as resolveExports, imports as resolveImports } from "resolve.exports";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly main?: string;
  readonly exports?: unknown;
  readonly imports?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

const MAX_FILES = 20_000;
const REQUIRE = /\brequire\s*\(\s*(["'])([^"'\n]+)\1\s*\)/g;
const EXTENSIONS = ["", ".js", ".cjs", ".mjs", ".json", ".node", "/index.js"];

/**
 * Follows a module's imports.
 * @param url `file:` URL of the module, by its real path
 * @param extra files and folders that the module loads in other ways
 * @returns absolute paths of files and folders
 */
export async function codeFiles(url: string, extra: readonly string[] = []): Promise<ReadonlySet<string>> {
  await init();
  const walk = new Walk();
  for (const path of extra) await walk.add(path);
  await walk.file(fileURLToPath(url));
  return walk.found;
}

class Walk {
  readonly found = new Set<string>();
  readonly #packages = new Set<string>();

  /**
   * Adds a path by its name and by its real name: the first is asked for, the second is opened.
   * Node reads each link on the way, so a link is granted, and with it what it leads to by that name.
   */
  async add(path: string): Promise<string> {
    const real = await realpath(path).catch(() => path);
    this.found.add(real);
    if (real !== path) {
      this.found.add(path);
      for (const link of await linksOn(path)) this.found.add(link);
    }
    return real;
  }

  async file(path: string): Promise<void> {
    if (this.found.has(path) || this.found.size > MAX_FILES) return;
    const real = await this.add(path);
    const text = await readFile(real, "utf8").catch(() => undefined);
    if (text === undefined) return;
    await this.#manifests(dirname(real));
    if (![".js", ".mjs", ".cjs", ".ts", ".mts"].includes(extname(real))) return;
    for (const specifier of specifiersOf(text)) await this.#import(specifier, real);
  }

  async #import(specifier: string, importer: string): Promise<void> {
    if (isBuiltin(specifier) || specifier.startsWith("data:")) return;
    if (specifier.startsWith("#")) {
      await this.#ownName(specifier, importer);
      return;
    }
    if (specifier.startsWith("file:")) await this.#url(specifier);
    else if (/^\.{0,2}\//.test(specifier)) await this.#relative(resolve(dirname(importer), specifier));
    else await this.#package(specifier, dirname(importer));
  }

  /** A name that the importer's package gives to files and packages for itself. */
  async #ownName(specifier: string, importer: string): Promise<void> {
    const own = await findUp(dirname(importer), "package.json");
    const manifest = own && (await readManifest(dirname(own)));
    if (!own || !manifest) return;
    for (const target of ownTargets(manifest, specifier)) {
      if (target.startsWith("./")) await this.file(join(dirname(own), target));
      else if (!isBuiltin(target)) await this.#package(target, dirname(own));
    }
  }

  async #url(specifier: string): Promise<void> {
    let path: string;
    try {
      path = fileURLToPath(specifier);
    } catch {
      // What Node cannot import either fails in the cell, with Node's own words; here it may be mere text.
      return;
    }
    await this.file(path);
  }

  async #relative(path: string): Promise<void> {
    // Node asks for a folder's manifest also where there is none.
    if ((await stat(path).catch(() => undefined))?.isDirectory()) await this.add(join(path, "package.json"));
    for (const ending of EXTENSIONS) {
      const candidate = path + ending;
      if ((await stat(candidate).catch(() => undefined))?.isFile()) {
        await this.file(candidate);
        return;
      }
    }
    // A folder that is required by its own manifest.
    const main = (await readManifest(path))?.main;
    if (main === undefined) return;
    if (join(path, main) !== path) await this.#relative(join(path, main));
  }

  /** Node looks for the package that a file belongs to. */
  async #manifests(folder: string): Promise<void> {
    const own = await findUp(folder, "package.json");
    if (own) await this.add(own);
  }

  async #package(specifier: string, from: string): Promise<void> {
    const name = /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
    const linked = (await findUp(from, join("node_modules", name))) ?? (await selfReference(from, name));
    if (!linked) return;
    const folder = await realpath(linked).catch(() => linked);
    const manifest = await readManifest(folder);
    if (!folder.split(sep).includes("node_modules")) {
      // A package under development lies among files that are not its own: only what is imported counts.
      await this.add(join(linked, "package.json"));
      const entry = manifest && entryOf(manifest, specifier, name);
      if (entry) await this.file(join(linked, entry));
      return;
    }
    if (this.#packages.has(folder)) return;
    this.#packages.add(folder);
    await this.add(linked);
    for (const dependency of dependenciesOf(manifest)) await this.#package(dependency, folder);
  }
}

function specifiersOf(text: string): string[] {
  const found = new Set<string>();
  for (const [, , specifier] of text.matchAll(REQUIRE)) if (specifier !== undefined) found.add(specifier);
  try {
    for (const { specifier } of parse(text)[0]) if (specifier) found.add(specifier);
  } catch {
    // What is no ES module has its require calls; what is no JavaScript says so when it is loaded.
  }
  return [...found];
}

function dependenciesOf(manifest: Manifest | undefined): string[] {
  return Object.keys({ ...manifest?.dependencies, ...manifest?.optionalDependencies, ...manifest?.peerDependencies });
}

function entryOf(manifest: Manifest, specifier: string, name: string): string | undefined {
  try {
    const subpath = specifier === name ? "." : `.${specifier.slice(name.length)}`;
    if (manifest.exports === undefined) return subpath === "." ? (manifest.main ?? "index.js") : subpath;
    return resolveExports(manifest, subpath)?.[0];
  } catch {
    // A subpath that the package does not export fails in the cell, with Node's own words.
    return undefined;
  }
}

function ownTargets(manifest: Manifest, specifier: string): readonly string[] {
  try {
    return resolveImports(manifest, specifier) ?? [];
  } catch {
    // A name that the package does not give fails in the cell, with Node's own words.
    return [];
  }
}

async function readManifest(folder: string): Promise<Manifest | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
  } catch {
    return undefined;
  }
}

/** A module may import its own package by name. */
async function selfReference(from: string, name: string): Promise<string | undefined> {
  const own = await findUp(from, "package.json");
  if (!own) return undefined;
  const manifest = await readManifest(dirname(own));
  return manifest?.name === name ? dirname(own) : undefined;
}

async function findUp(folder: string, name: string): Promise<string | undefined> {
  const candidate = join(folder, name);
  if (await stat(candidate).catch(() => undefined)) return candidate;
  const parent = dirname(folder);
  return parent === folder ? undefined : findUp(parent, name);
}

/** The links that stand in a path. */
async function linksOn(path: string): Promise<string[]> {
  const links: string[] = [];
  let current = parsePath(path).root;
  for (const part of path.slice(current.length).split(sep)) {
    current = join(current, part);
    const found = await lstat(current).catch(() => undefined);
    if (!found?.isSymbolicLink()) continue;
    links.push(current);
    // What follows is looked up where the link leads.
    current = await realpath(current).catch(() => current);
  }
  return links;
}
