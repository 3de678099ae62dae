/** Inputs with stand-ins for values that are known later. */
import { keysOf, lookup, pointerTo } from "./pointer.js";

/** A stand-in: a value of the plan's document by its JSON Pointer. */
export interface Reference {
  /** Where in the template it stands. */
  readonly at: readonly (string | number)[];
  /** The pointer as it is written; anything, where the file is wrong. */
  readonly pointer: unknown;
  /** Whether something stands in where the pointer leads nowhere. */
  readonly hasDefault: boolean;
}

/** What is wrong with a template. */
export interface TemplateFault {
  readonly at: readonly (string | number)[];
  readonly message: string;
}

type Form = "from" | "text" | "literal" | undefined;

/** A pointer of a template led nowhere when its value was needed. */
export class MissingValue extends Error {
  readonly pointer: string;

  constructor(pointer: string, reached: string) {
    super(`\`${pointer}\` leads nowhere: there is nothing below \`${reached === "" ? "/" : reached}\` of that name`);
    this.pointer = pointer;
  }
}

/** Calls back for every stand-in and every fault of a template. */
export function survey(
  template: unknown,
  onReference: (reference: Reference) => void,
  onFault: (fault: TemplateFault) => void,
  at: readonly (string | number)[] = [],
): void {
  if (typeof template !== "object" || template === null) return;
  if (Array.isArray(template)) {
    template.forEach((member: unknown, index) => {
      survey(member, onReference, onFault, [...at, index]);
    });
    return;
  }
  const fields = template as Record<string, unknown>;
  switch (formOf(fields)) {
    case "from": {
      const unknown = Object.keys(fields).find((key) => key !== "$from" && key !== "default");
      if (unknown !== undefined)
        onFault({ at: [...at, unknown], message: `\`$from\` stands alone, or with \`default\`` });
      if (typeof fields["$from"] !== "string" || keysOf(fields["$from"]) === undefined) {
        onFault({ at: [...at, "$from"], message: "`$from` must be a JSON Pointer such as /steps/ID/output" });
      } else onReference({ at, pointer: fields["$from"], hasDefault: Object.hasOwn(fields, "default") });
      if (Object.hasOwn(fields, "default")) survey(fields["default"], onReference, onFault, [...at, "default"]);
      return;
    }
    case "text":
      if (!Array.isArray(fields["$text"]) || Object.keys(fields).length > 1) {
        onFault({ at: [...at, "$text"], message: "`$text` stands alone and is a list of parts" });
      } else survey(fields["$text"], onReference, onFault, [...at, "$text"]);
      return;
    case "literal":
      if (Object.keys(fields).length > 1) onFault({ at, message: "`$literal` stands alone" });
      return;
    default:
      for (const [key, member] of Object.entries(fields)) survey(member, onReference, onFault, [...at, key]);
  }
}

/**
 * Puts values in place of the stand-ins.
 * @throws MissingValue where a pointer leads nowhere and no default is given
 */
export function fill(template: unknown, document: unknown): unknown {
  if (typeof template !== "object" || template === null) return template;
  if (Array.isArray(template)) return template.map((member: unknown) => fill(member, document));
  const fields = template as Record<string, unknown>;
  switch (formOf(fields)) {
    case "from": {
      const pointer = String(fields["$from"]);
      const keys = keysOf(pointer) ?? [];
      const { found, value, depth } = lookup(document, keys);
      if (found) return value;
      if (Object.hasOwn(fields, "default")) return fill(fields["default"], document);
      throw new MissingValue(pointer, pointerTo(keys.slice(0, depth)));
    }
    case "text":
      return (fill(fields["$text"], document) as unknown[]).map(textOf).join("");
    case "literal":
      return fields["$literal"];
    default:
      return Object.fromEntries(Object.entries(fields).map(([key, member]) => [key, fill(member, document)]));
  }
}

/** Which stand-in a value is, if one. */
export function formOf(value: unknown): Form {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  if (Object.hasOwn(fields, "$from")) return "from";
  if (Object.hasOwn(fields, "$text")) return "text";
  return Object.hasOwn(fields, "$literal") ? "literal" : undefined;
}

/** A part of a `$text` as text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
