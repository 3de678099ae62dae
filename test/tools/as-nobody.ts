/** Runs a test without root's right to pass over permissions. */
import { chown, readdir } from "node:fs/promises";
import { join } from "node:path";

const NOBODY = 65_534;

/** Owns a folder and all in it to nobody and runs as nobody, where the tests run as root; else just runs. */
export async function asNobody<T>(folder: string, run: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return run();
  await chown(folder, NOBODY, NOBODY);
  for (const name of await readdir(folder, { recursive: true })) await chown(join(folder, name), NOBODY, NOBODY);
  process.seteuid?.(NOBODY);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
  }
}
