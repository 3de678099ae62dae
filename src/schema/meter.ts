/**
 * The bound on the work of one check. A recursive schema can ask for 2^40 steps over forty levels of
 * data, and a check runs on the host's own thread, where nothing else could stop it.
 */

/** Steps that any check may take; about a tenth of a second. */
export const STEP_LIMIT = 2_000_000;
/** Steps that a check may take for each value of large data, beyond {@link STEP_LIMIT}. */
const STEPS_PER_VALUE = 50;
/** Most levels of data that a recursive schema follows. */
export const MAX_DATA_DEPTH = 1_000;
/** UTF-16 units of a string that weigh as much as one value. */
export const TEXT_PER_VALUE = 16;

/** What is left to the check that runs now; a check never yields, so that one meter serves all. */
export const METER = { left: STEP_LIMIT };

/** Ends a check that has used up its steps. */
export class StepsSpent extends Error {}

/** Ends a check of data that is too deep. */
export class TooDeep extends Error {}

/** Takes steps from the running check. @throws StepsSpent */
export function spend(steps: number): void {
  if ((METER.left -= steps) < 0) throw new StepsSpent();
}

/** Takes the steps that a string costs. @throws StepsSpent */
export function spendText(length: number): void {
  spend(1 + Math.floor(length / TEXT_PER_VALUE));
}

/** Counts the keys of an object, at a step for each: they have to be listed. @throws StepsSpent */
export function countKeys(value: object): number {
  const { length } = Object.keys(value);
  spend(length);
  return length;
}

/** Counts the levels of a path, and those below it, where there may be too many. @throws TooDeep */
export function measureDepth(instancePath: string, below: number): void {
  spend(Math.floor(instancePath.length / 256));
  let levels = below;
  for (let at = instancePath.indexOf("/"); at >= 0; at = instancePath.indexOf("/", at + 1)) levels++;
  if (levels > MAX_DATA_DEPTH) throw new TooDeep();
}

/** The steps that a check of this value may take. An object that is reached twice counts once. */
export function stepLimit(value: unknown): number {
  const seen = new Set<object>();
  const open: unknown[] = [value];
  let size = 0;
  while (open.length > 0) {
    const next = open.pop();
    size++;
    if (typeof next === "string") size += Math.floor(next.length / TEXT_PER_VALUE);
    if (typeof next !== "object" || next === null || seen.has(next)) continue;
    seen.add(next);
    if (Array.isArray(next)) for (const entry of next) open.push(entry);
    else {
      for (const [key, entry] of Object.entries(next)) {
        size += Math.floor(key.length / TEXT_PER_VALUE);
        open.push(entry);
      }
    }
  }
  return Math.max(STEP_LIMIT, STEPS_PER_VALUE * size);
}
