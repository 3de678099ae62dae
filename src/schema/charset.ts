/** Sets of code points, for the classes of a regular expression. */

/** Ranges as `[low, high, low, high, …]`, ascending and apart. */
export type CharSet = readonly number[];

const LAST = 0x10ffff;

/** The set of everything in any of the sets. */
export function union(sets: readonly CharSet[]): CharSet {
  const ranges: [number, number][] = [];
  for (const set of sets) {
    for (let index = 0; index < set.length; index += 2) ranges.push([set[index] ?? 0, set[index + 1] ?? 0]);
  }
  ranges.sort((left, right) => left[0] - right[0]);
  const merged: number[] = [];
  for (const [low, high] of ranges) {
    const end = merged.length - 1;
    const last = merged[end];
    if (last !== undefined && low <= last + 1) merged[end] = Math.max(last, high);
    else merged.push(low, high);
  }
  return merged;
}

/** Every code point outside the set. */
export function complement(set: CharSet): CharSet {
  const result: number[] = [];
  let next = 0;
  for (let index = 0; index < set.length; index += 2) {
    const low = set[index] ?? 0;
    if (low > next) result.push(next, low - 1);
    next = (set[index + 1] ?? LAST) + 1;
  }
  if (next <= LAST) result.push(next, LAST);
  return result;
}

const code = (point: number): string => `\\x{${point.toString(16)}}`;

/** The set in RE2 syntax. */
export function classSource(set: CharSet): string {
  if (set.length === 0) return `[^${code(0)}-${code(LAST)}]`;
  if (set.length === 2 && set[0] === set[1]) return code(set[0] ?? 0);
  let source = "";
  for (let index = 0; index < set.length; index += 2) source += `${code(set[index] ?? 0)}-${code(set[index + 1] ?? 0)}`;
  return `[${source}]`;
}

/** `\d`. */
export const DIGITS: CharSet = [0x30, 0x39];
/** `\w`. */
export const WORD: CharSet = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
/** `\s`: ECMAScript has more of it than RE2. */
export const SPACE: CharSet = union([
  [0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029],
  [0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff],
]);
/** `.` without the `s` flag. */
export const DOT: CharSet = complement([0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029]);

const MOST_PROPERTIES = 64;
const properties = new Map<string, CharSet>();

/** Where code points differ from their neighbours. Each range is in one plane group: one or two units each. */
const SEARCHED: readonly (readonly [number, number])[] = [
  [0x0, 0xd7ff],
  [0xe000, 0xffff],
  [0x10000, 0x3ffff],
  [0xe0000, 0xe0fff],
];

/** Where all have the same properties: surrogates, and planes that are unassigned or for private use. */
const ALIKE: readonly (readonly [number, number])[] = [
  [0xd800, 0xdfff],
  [0xe1000, 0xefffd],
  [0xefffe, 0xeffff],
  ...[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16].flatMap((plane) => {
    const start = plane * 0x10000;
    // The last two of each plane are noncharacters.
    return [[start, start + 0xfffd] as const, [start + 0xfffe, start + 0xffff] as const];
  }),
];

const texts: string[] = [];

/** The code points of a searched range, in order. */
function textOf(index: number, low: number, high: number): string {
  return (texts[index] ??= Array.from({ length: high - low + 1 }, (_, offset) => {
    return String.fromCodePoint(low + offset);
  }).join(""));
}

/**
 * The code points of `\p{name}`, as the native engine sees them: it knows every property of ECMAScript,
 * in the Unicode version of the host.
 */
export function propertySet(name: string): CharSet {
  const known = properties.get(name);
  if (known !== undefined) return known;
  const search = new RegExp(`\\p{${name}}+`, "gu");
  const ranges = SEARCHED.flatMap(([low, high], index) => {
    const units = low > 0xffff ? 2 : 1;
    return Array.from(textOf(index, low, high).matchAll(search), ({ index: at, 0: { length } }) => {
      return [low + at / units, low + (at + length) / units - 1];
    });
  });
  const single = new RegExp(`^\\p{${name}}$`, "u");
  const set = union([...ranges, ...ALIKE.filter(([low]) => single.test(String.fromCodePoint(low)))]);
  if (properties.size >= MOST_PROPERTIES) properties.clear();
  properties.set(name, set);
  return set;
}
