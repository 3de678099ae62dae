/** The functions of the query language, each of which keeps the time and the bounds of its query. */
import { checkJson } from "./json-length.js";
import type { QueryGuard } from "./query-guard.js";
import {
  fault,
  isDefinition,
  type Definition,
  type Environment,
  type Focus,
  type Functions,
} from "./query-language.js";
import { listFunctions } from "./query-lists.js";
import { textFunctions } from "./query-text.js";

/** All that the library has. */
const NAMES = (
  "sum count max min average string substring substringBefore substringAfter lowercase uppercase length trim pad match " +
  "contains replace split join formatNumber formatBase formatInteger parseInteger number floor ceil round abs sqrt power " +
  "random boolean not map zip filter single reduce sift keys lookup append exists spread merge reverse each error assert " +
  "type sort shuffle distinct base64encode base64decode encodeUrlComponent encodeUrl decodeUrlComponent decodeUrl eval " +
  "toMillis fromMillis clone now millis"
).split(" ");
/** Characters of an expression within the expression. */
const MAX_EVALUATED = 100_000;
/** Characters of a picture: the library compares each with all others. */
const MAX_PICTURE = 1_000;
/** Ways to share a text out among the fields of a picture; the library tries them one by one. */
const MAX_WAYS = 100_000_000;

type Check = (args: readonly unknown[], guard: QueryGuard) => void;

/** What is looked at before a function of the library's own is called. */
const CHECKS: Readonly<Record<string, Check>> = {
  string: ([value], guard) => (typeof value === "object" ? checkJson(value, "$string", guard) : undefined),
  clone: ([value], guard) => checkJson(value, "$clone", guard),
  eval: ([text], guard) => checkLength("The expression for $eval", text, MAX_EVALUATED, guard),
  formatNumber: ([value, picture], guard) => checkPicture("formatNumber", value, picture, guard),
  formatInteger: ([value, picture], guard) => checkPicture("formatInteger", value, picture, guard),
  fromMillis: ([value, picture], guard) => checkPicture("fromMillis", value, picture, guard),
  now: ([picture], guard) => checkPicture("now", undefined, picture, guard),
  parseInteger: ([, picture], guard) => checkPicture("parseInteger", undefined, picture, guard),
  toMillis([text, picture], guard) {
    checkPicture("toMillis", undefined, picture, guard);
    if (typeof text !== "string" || typeof picture !== "string") return;
    const fields = picture.split("[").length - 1;
    let ways = 1;
    for (let at = 0; at < fields && ways <= MAX_WAYS; at++) ways *= Math.max(text.length - at, 1) / (at + 1);
    if (ways > MAX_WAYS) guard.refuse(`$toMillis has more than ${MAX_WAYS} ways to read its text`, MAX_WAYS);
  },
};

/**
 * The functions in sight, guarded, and those behind the operators that are guarded too.
 * @param environment of the library before any of it was replaced
 */
export function guardedFunctions(environment: Environment, guard: QueryGuard): Map<string, Definition> {
  const own: Functions = { ...textFunctions(guard), ...listFunctions(guard) };
  const functions = new Map<string, Definition>();
  for (const name of NAMES) {
    const original = environment.lookup(name);
    // A variable of the caller's may have the name.
    if (isDefinition(original)) functions.set(name, guarded(name, original, own[name], guard));
  }
  const string = functions.get("string")?.implementation;
  const text = (self: Focus, value: unknown): string => {
    if (value === undefined) return "";
    return typeof value === "string" ? value : String(string?.call(self, value));
  };
  const concatenation = function (this: Focus, left: unknown, right: unknown): string {
    const made = text(this, left) + text(this, right);
    guard.checkText("The operator &", made.length);
    return made;
  };
  functions.set("operator &", { _jsonata_function: true, implementation: concatenation });
  const wildcard = own["operator *"] as Definition["implementation"];
  functions.set("operator *", { _jsonata_function: true, implementation: wildcard });
  return functions;
}

function guarded(
  name: string,
  original: Definition,
  own: Functions[string] | undefined,
  guard: QueryGuard,
): Definition {
  const inner = (own ?? original.implementation) as Definition["implementation"];
  const checked = (result: unknown): unknown => {
    if (typeof result === "string") guard.checkText(`$${name}`, result.length);
    return result;
  };
  const implementation = function (this: Focus, ...args: unknown[]): unknown {
    guard.look();
    CHECKS[name]?.(args, guard);
    const result = inner.apply(this, args);
    return result instanceof Promise ? result.then(checked) : checked(result);
  };
  // The library counts a function's parameters, and reads their names in its text.
  Object.defineProperty(implementation, "length", { value: original.implementation.length });
  implementation.toString = () => original.implementation.toString();
  return { ...original, implementation };
}

function checkPicture(name: string, value: unknown, picture: unknown, guard: QueryGuard): void {
  // The library looks for the end of infinity.
  if (value === Infinity || value === -Infinity) throw fault("D1001", { value });
  checkLength(`The picture for $${name}`, picture, MAX_PICTURE, guard);
}

function checkLength(what: string, text: unknown, bound: number, guard: QueryGuard): void {
  if (typeof text === "string" && text.length > bound) guard.refuse(`${what} has more than ${bound} characters`, bound);
}
