/** What a caller without types can hand in, each under a label of its own. */
export const WRONG_VALUES: readonly (readonly [label: string, value: unknown])[] = [
  ["undefined", undefined],
  ["null", null],
  ["0", 0],
  ["1", 1],
  ["NaN", NaN],
  ["an empty text", ""],
  ["a text", "text"],
  ["true", true],
  ["a symbol", Symbol("s")],
  ["a BigInt", 1n],
  ["a list", []],
  ["an empty object", {}],
  ["a function", () => undefined],
  ["an object without a prototype", Object.create(null)],
];

/** The wrong values of which a test says that they are wrong. */
export function wrongValues(isWrong: (value: unknown) => boolean): typeof WRONG_VALUES {
  return WRONG_VALUES.filter(([, value]) => isWrong(value));
}
