/** Looks over the shoulder of everything that calls `node:fs/promises`, to count, change or end what it does. */
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { fileURLToPath } from "node:url";

const FUNCTIONS = [
  "chmod",
  "lstat",
  "lutimes",
  "mkdir",
  "open",
  "readdir",
  "readFile",
  "readlink",
  "rename",
  "rm",
  "rmdir",
  "stat",
  "symlink",
  "unlink",
] as const;
const OF_HANDLES = ["chmod", "read", "stat", "sync", "writeFile", "close"] as const;

/** Called before each operation. */
export type Hook = (name: string, args: readonly unknown[]) => void;

/** @returns takes the hook away */
export async function hookFileSystem(hook: Hook): Promise<() => void> {
  const handle = await fs.open(fileURLToPath(import.meta.url));
  const prototype = Object.getPrototypeOf(handle) as object;
  await handle.close();
  const undo = [...put(fs, FUNCTIONS, "", hook), ...put(prototype, OF_HANDLES, "handle.", hook)];
  syncBuiltinESMExports();
  return () => {
    for (const each of undo) each();
    syncBuiltinESMExports();
  };
}

function put(owner: object, names: readonly string[], prefix: string, hook: Hook): (() => void)[] {
  const members = owner as Record<string, (...args: unknown[]) => unknown>;
  return names.map((name) => {
    const original = members[name]!;
    members[name] = function (this: unknown, ...args: unknown[]) {
      try {
        hook(prefix + name, args);
      } catch (error) {
        return Promise.reject(error);
      }
      return original.apply(this, args);
    };
    return () => {
      members[name] = original;
    };
  });
}
