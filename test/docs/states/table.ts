/** The tables of `docs/states.md`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TracePhases } from "../../../src/index.js";
import { packageFolder } from "../../types/user-program.js";

type Phase = keyof TracePhases;

/** A way in which a call can end in a state. */
export interface EndingCell {
  readonly outcome: string;
  /** None where the code is the tool's own, or there is no error. */
  readonly codes: readonly string[];
}

/** A row. */
export interface StateRow {
  /** Phases of the trace. */
  readonly phases: readonly Phase[];
  /** What `calls()` calls it. */
  readonly shown: string;
  readonly endings: readonly EndingCell[];
}

const page = readFileSync(join(packageFolder, "docs/states.md"), "utf8");

/** Codes of a call that was told to stop, which the table calls `stop`. */
const STOP_CODES = namesIn(/^\*\*stop\*\* is (.*?)\./ms.exec(page)?.[1] ?? "").filter(isCode);

/** The states, in their order. */
export const STATES: readonly StateRow[] = tableUnder("| state |").map(([phases, shown, _next, endings]) => ({
  phases: namesIn(phases!) as Phase[],
  shown: namesIn(shown!)[0]!,
  endings: endings!.split(";").flatMap(endingsOf),
}));

/** Which class an error of a code has, by outcome where the code alone does not say. */
export const CLASSES: readonly { readonly name: string; readonly codes: readonly string[]; outcome?: string }[] =
  tableUnder("| class |").map(([name, codes]) => {
    const outcome = namesIn(codes!).find((one) => !isCode(one));
    return { name: namesIn(name!)[0]!, codes: namesIn(codes!).filter(isCode), ...(outcome && { outcome }) };
  });

/** Where a call goes back to, by what takes it there. */
export const WAYS_BACK: readonly (readonly string[])[] = tableUnder("| way back |").map(([way, from, to]) => [
  way!,
  ...namesIn(from!),
  ...namesIn(to!),
]);

function tableUnder(head: string): string[][] {
  const lines = page.split("\n");
  const start = lines.findIndex((line) => line.startsWith(head));
  const end = lines.findIndex((line, at) => at > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function endingsOf(text: string): EndingCell[] {
  const [outcomes, codes = ""] = text.split(":");
  const named = [...(/\*\*stop\*\*/.test(codes) ? STOP_CODES : []), ...namesIn(codes)];
  return namesIn(outcomes!).map((outcome) => ({ outcome, codes: named }));
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!.replace(/\(\)$/, ""));
}

function isCode(name: string): boolean {
  return /^[A-Z_]+$/.test(name);
}
