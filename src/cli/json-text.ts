/** JSON that a user wrote. JSON.parse does not say where it is wrong on every Node, and YAML's reader allows more. */
import { UsageError } from "./usage-error.js";

/**
 * Reads JSON, with or without a byte order mark.
 * @param advice what the message goes on with
 * @throws UsageError with line and column
 */
export function parseJson(text: string, where: string, advice = ""): unknown {
  const json = text.replace(/^\ufeff/, "");
  try {
    return JSON.parse(json) as unknown;
  } catch {
    const lines = json.slice(0, faultIn(json)).split("\n");
    const place = `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
    throw new UsageError(`${where} is no JSON at ${place}.${advice}`);
  }
}

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\p{Cc}]+|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/y;

/** Offset of the first token that cannot stand where it stands; the length where more should come. */
function faultIn(json: string): number {
  const open: ("{" | "[")[] = [];
  let state: "value" | "first value" | "first key" | "key" | "colon" | "end" = "value";
  for (let at = 0; ;) {
    at += lengthOf(SPACE, json, at);
    const character = json[at];
    const inside = open.at(-1);
    const closes = character === (inside === "{" ? "}" : "]") && inside !== undefined;
    if (state === "end" ? closes : closes && state.startsWith("first")) {
      open.pop();
      at++;
      state = "end";
    } else if (state === "end") {
      if (character !== "," || inside === undefined) return at;
      at++;
      state = inside === "{" ? "key" : "value";
    } else if (state === "colon") {
      if (character !== ":") return at;
      at++;
      state = "value";
    } else if ((character === "{" || character === "[") && state.endsWith("value")) {
      open.push(character);
      at++;
      state = character === "{" ? "first key" : "first value";
    } else {
      const isKey = state.endsWith("key");
      const length = lengthOf(STRING, json, at) || (isKey ? 0 : lengthOf(SCALAR, json, at));
      if (length === 0) return at;
      at += length;
      state = isKey ? "colon" : "end";
    }
  }
}

function lengthOf(token: RegExp, text: string, at: number): number {
  token.lastIndex = at;
  return token.exec(text)?.[0].length ?? 0;
}
