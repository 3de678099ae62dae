/** Fields of a tool's input as options: `--field value`. */
import type { ToolSpec } from "../index.js";
import { nearest } from "../nearest.js";
import { FieldSchema } from "./field-schema.js";
import { UsageError } from "./usage-error.js";

/**
 * Reads options that are named like fields.
 * @throws UsageError
 */
export function readFields(spec: ToolSpec, words: readonly string[]): Record<string, unknown> {
  const input = new FieldSchema(spec.inputSchema);
  const { names } = input;
  const fields = new Map<string, unknown>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (!word.startsWith("--")) throw new UsageError(`"${word}" belongs to no option; write --field value.`);
    const [, written = "", inline] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const name = names.length === 0 ? camelCase(written) : fieldName(written, names);
    if (name === undefined) throw unknownField(spec.name, written, names);
    const schema = input.field(name);
    const next = words[at + 1];
    const isAlone = inline === undefined && (next === undefined || next.startsWith("--"));
    if (isAlone && !schema.isSwitch)
      throw new UsageError(`--${written} wants a value; one that begins with -- goes as --${written}=VALUE.`);
    if (isAlone) {
      fields.set(name, true);
      continue;
    }
    if (inline === undefined) at++;
    const { value, isMember } = schema.read(inline ?? next ?? "", written);
    const before = fields.get(name);
    // A list may be given by its members, the first of which may be all that a union wants.
    const isAdded = isMember || (before !== undefined && schema.isList && !Array.isArray(value));
    const earlier = before === undefined ? [] : Array.isArray(before) ? (before as unknown[]) : [before];
    fields.set(name, isAdded ? [...earlier, value] : value);
  }
  return Object.fromEntries(fields);
}

/** How the fields of an input are written as options. */
export function optionsOf(spec: ToolSpec): string[] {
  return new FieldSchema(spec.inputSchema).names.map((name) => {
    const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return `--${camelCase(kebab) === name ? kebab : name}`;
  });
}

/** Words that may stand for the value of an option; undefined where it is a switch, or no field. */
export function valuesOf(spec: ToolSpec, option: string): string[] | undefined {
  const input = new FieldSchema(spec.inputSchema);
  const name = fieldName(option.replace(/^--/, ""), input.names);
  if (name === undefined || input.field(name).isSwitch) return undefined;
  return input.field(name).words;
}

/** `--skip-folders` is `skipFolders`. */
function fieldName(written: string, names: readonly string[]): string | undefined {
  if (names.includes(written)) return written;
  const camel = camelCase(written);
  return names.includes(camel) ? camel : undefined;
}

function camelCase(written: string): string {
  return written.replace(/-([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

function unknownField(tool: string, written: string, names: readonly string[]): UsageError {
  const meant = nearest(written, names);
  return new UsageError(
    `The input of ${tool} has no field "${written}"; ${meant === undefined ? `it has ${names.join(", ") || "none"}` : `did you mean --${meant}?`}. ` +
      "Options of toolcell itself stand before the tool's name.",
  );
}
