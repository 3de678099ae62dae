/** Random work on a folder, by direct operations of the file system; what cannot be done is left. */
import { chmodSync, lutimesSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import fc from "fast-check";

interface Edit {
  readonly what: "write" | "folder" | "link" | "remove" | "mode" | "move" | "time";
  readonly path: string;
  readonly other: string;
  /** Its length is met in several places where it is long. */
  readonly size: number;
  readonly mode: number;
}

// Bytes, one character each: the last one is no UTF-8.
const name = fc.constantFrom("a", "b", "c.txt", "\xc3\xbc", "\xff\n");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const size = fc.oneof(fc.nat({ max: 3 }), fc.constantFrom(262_144, 300_000));

/** A few edits. */
export const someEdits = fc.array(
  fc.record<Edit>({
    what: fc.constantFrom("write", "write", "write", "folder", "folder", "link", "remove", "mode", "move", "time"),
    path,
    other: path,
    size,
    mode: fc.constantFrom(0o600, 0o644, 0o755, 0o700, 0o4750, 0o1777),
  }),
  { maxLength: 15 },
);

/** Does them. */
export function edit(root: string, edits: readonly Edit[]): void {
  const at = (each: string): Buffer => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(each, "latin1")]);
  for (const { what, path: name, other, size, mode } of edits) {
    const target = at(name);
    try {
      if (what === "write") writeFileSync(target, Buffer.alloc(size, name));
      else if (what === "folder") mkdirSync(target, { recursive: true, mode: mode | 0o700 });
      else if (what === "link") symlinkSync(Buffer.from(other, "latin1"), target);
      else if (what === "remove") rmSync(target, { recursive: true });
      else if (what === "mode") chmodSync(target, mode | 0o600);
      else if (what === "time") lutimesSync(target, 1.5, 1_700_000_000.123456);
      else renameSync(target, at(other));
    } catch (error) {
      if (!("syscall" in (error as object)) && (error as { code?: string }).code?.startsWith("ERR_FS") !== true)
        throw error;
    }
  }
}
