/** What benchmarks leave behind: a file each, and a page of them all. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Result } from "./bench.js";
import { pageOf } from "./page.js";

/** Writes a run in the place of the one before. */
export async function saveResult(folder: string, result: Result): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${result.name}.json`), `${JSON.stringify(result, undefined, 2)}\n`);
}

/**
 * Writes the page of all results in the folder, in the order of their names in `names`.
 * @returns the path of the page
 */
export async function writePage(folder: string, names: readonly string[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  const files = (await readdir(folder)).filter((file) => file.endsWith(".json"));
  const read = async (file: string): Promise<Result> =>
    JSON.parse(await readFile(join(folder, file), "utf8")) as Result;
  const results = await Promise.all(files.map(read));
  const place = ({ name }: Result): number => (names.includes(name) ? names.indexOf(name) : names.length);
  const page = join(folder, "index.html");
  await writeFile(page, pageOf(results.sort((one, other) => place(one) - place(other))));
  return page;
}
