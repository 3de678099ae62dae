/** Edits that are a unified diff. */
import { applyPatch } from "diff/lib/patch/apply.js";
import { parsePatch } from "diff/lib/patch/parse.js";
import type { StructuredPatch, StructuredPatchHunk } from "diff/lib/types.js";
import type { CancellationView } from "../src/tool.js";
import type { Edited } from "./exact-edit.js";
import { shown, ToolFailure } from "./failure.js";
import { nearestFit, told } from "./nearest-fit.js";

const LINES_PER_POLL = 1_024;
const LISTED_LINES = 20;

/**
 * Applies a unified diff of one file. A hunk goes where its lines are: to the line that it names, else to the only other
 * place with these lines.
 * @param fuzz lines of context that may differ in a hunk that fits nowhere
 * @param paths of the file; a header that names another file is refused
 * @throws ToolFailure `INVALID_PATCH`, `PATCH_CONFLICT` or `AMBIGUOUS_MATCH`
 */
export function replaceByPatch(
  text: string,
  patch: string,
  fuzz: number,
  token: CancellationView,
  paths: readonly string[] = [],
): Edited {
  const parsed = parse(patch);
  if (paths.length > 0) checkNames(parsed, paths);
  const placed = place(parsed.hunks, linesOf(text), fuzz, token);
  const result = applyPatch(text, { ...parsed, hunks: placed }, { fuzzFactor: fuzz, autoConvertLineEndings: false });
  if (result !== false) return { text: result, replacements: placed.length };
  const failed = placed.findIndex(
    (_, index) =>
      applyPatch(
        text,
        { ...parsed, hunks: placed.slice(0, index + 1) },
        { fuzzFactor: fuzz, autoConvertLineEndings: false },
      ) === false,
  );
  const hunk = placed[failed];
  if (hunk && (fuzz === 0 || fits(linesOf(text), hunk, hunk.oldStart - 1))) {
    throw conflict(failed, hunk, "Whether the file's last line ends with a line feed is not as the hunk says.");
  }
  throw conflict(failed, hunk, nearestTo(linesOf(text), hunk, token));
}

/** The one file of a patch, with hunks in order. */
function parse(patch: string): StructuredPatch {
  let files: StructuredPatch[];
  try {
    files = parsePatch(patch);
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error));
  }
  if (files.some(({ isDelete, newFileName }) => isDelete || newFileName === "/dev/null")) {
    throw invalid("it deletes the file; use delete-file for that");
  }
  if (files.some(({ isRename, isCopy, isBinary }) => isRename || isCopy || isBinary)) {
    throw invalid("it renames or copies a file, or is binary; use move-file to rename");
  }
  const [file, second] = files.filter(({ hunks }) => hunks.length > 0);
  if (!file) throw invalid("it holds no hunk; one starts with @@ -line,count +line,count @@");
  if (second) throw invalid("it changes several files; give one edit for each, in calls of their own");
  let free = 0;
  for (const [index, { oldStart, oldLines }] of file.hunks.entries()) {
    if (!Number.isSafeInteger(oldStart + oldLines)) throw invalid(`hunk ${index + 1} does not name its lines`);
    if (oldStart < free) throw invalid(`hunk ${index + 1} lies before the end of the one before it`);
    free = oldStart + oldLines;
  }
  return file;
}

/** Refuses a header that names files, none of which has the file's name. What has neither slash nor dot is a label. */
function checkNames({ oldFileName, newFileName }: StructuredPatch, paths: readonly string[]): void {
  const named = [newFileName, oldFileName].filter(
    (name) => name !== undefined && name !== "/dev/null" && /[/.]/.test(name),
  );
  const meant = paths.map(lastOf);
  const [other] = named;
  if (other === undefined || named.some((name) => name !== undefined && meant.includes(lastOf(name)))) return;
  const message = `The patch is for ${shown(other)}, not for ${shown(paths[0] ?? "")}; edit that file, or correct the header.`;
  throw new ToolFailure("INVALID_PATCH", message);
}

/** The last part of a path; a patch made on Windows may have backslashes. */
function lastOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** The hunks, each at the line where it fits. One that fits nowhere stays where it is if fuzz may help it. */
function place(
  hunks: readonly StructuredPatchHunk[],
  lines: readonly string[],
  fuzz: number,
  token: CancellationView,
): StructuredPatchHunk[] {
  let offset = 0;
  let free = 0;
  return hunks.map((hunk, index) => {
    const named = hunk.oldStart - 1 + offset;
    const places = named >= free && fits(lines, hunk, named) ? [named] : placesOf(lines, hunk, free, token);
    const [at] = places;
    if (at === undefined) {
      if (fuzz === 0 || hunk.oldLines === 0) throw conflict(index, hunk, nearestTo(lines, hunk, token));
      return { ...hunk, oldStart: named + 1 };
    }
    if (places.length > 1) {
      const others = places.slice(0, LISTED_LINES).map((each) => each + 1);
      throw new ToolFailure(
        "AMBIGUOUS_MATCH",
        `Hunk ${index + 1} does not fit on line ${named + 1}, but on lines ${others.join(", ")}; correct its line.`,
        { hunk: index + 1, lines: others },
      );
    }
    offset += at - named;
    free = at + hunk.oldLines;
    return { ...hunk, oldStart: at + 1 };
  });
}

/** Where a hunk fits; one without old lines fits only where it says. */
function placesOf(
  lines: readonly string[],
  hunk: StructuredPatchHunk,
  from: number,
  token: CancellationView,
): number[] {
  const places: number[] = [];
  if (hunk.oldLines === 0) return places;
  for (let at = from; at + hunk.oldLines <= lines.length && places.length <= LISTED_LINES; at++) {
    if (at % LINES_PER_POLL === 0) token.check();
    if (fits(lines, hunk, at)) places.push(at);
  }
  return places;
}

function fits(lines: readonly string[], hunk: StructuredPatchHunk, at: number): boolean {
  if (at < 0 || at + hunk.oldLines > lines.length) return false;
  let line = at;
  for (const each of hunk.lines) {
    if (isOld(each) && lines[line++] !== each.slice(1)) return false;
  }
  return true;
}

function isOld(line: string): boolean {
  return line === "" || line.startsWith(" ") || line.startsWith("-");
}

/** Lines without the one that a line feed at the end would seem to begin. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function nearestTo(lines: readonly string[], hunk: StructuredPatchHunk | undefined, token: CancellationView): string {
  const wanted = hunk?.lines.filter(isOld).map((line) => line.slice(1)) ?? [];
  if (wanted.length === 0) return `The file has ${lines.length} lines.`;
  const nearest = nearestFit(lines, wanted, true, token);
  return nearest ? told(nearest) : "The file is empty.";
}

function conflict(index: number, hunk: StructuredPatchHunk | undefined, why: string): ToolFailure {
  const at = hunk ? ` (line ${hunk.oldStart})` : "";
  return new ToolFailure("PATCH_CONFLICT", `Hunk ${index + 1}${at} does not apply. ${why}`, { hunk: index + 1 });
}

function invalid(why: string): ToolFailure {
  return new ToolFailure("INVALID_PATCH", `The patch is not a unified diff of one file: ${why}.`);
}
