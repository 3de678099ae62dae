/** An input as far as it is known before the plan runs. */
import { pointerTo } from "./pointer.js";
import { formOf, textOf } from "./template.js";

/** A value that is not known yet. */
export interface UnknownValue {
  /** JSON Pointer into the input. */
  readonly pointer: string;
  /** Whether it will be a text at any rate. */
  readonly isText: boolean;
}

/** What is known, with null or "" for what is not. */
export interface KnownInput {
  readonly value: unknown;
  readonly unknown: readonly UnknownValue[];
}

/** Fills in what stands for itself, and says where the rest is. */
export function knownInput(template: unknown): KnownInput {
  const unknown: UnknownValue[] = [];
  return { value: known(template, [], unknown), unknown };
}

function known(template: unknown, at: readonly (string | number)[], unknown: UnknownValue[]): unknown {
  if (typeof template !== "object" || template === null) return template;
  if (Array.isArray(template)) return template.map((member: unknown, index) => known(member, [...at, index], unknown));
  const fields = template as Record<string, unknown>;
  switch (formOf(fields)) {
    case "from":
      unknown.push({ pointer: pointerTo(at), isText: false });
      return null;
    case "text": {
      const parts = knownInput(fields["$text"]);
      if (parts.unknown.length === 0) return (parts.value as unknown[]).map(textOf).join("");
      unknown.push({ pointer: pointerTo(at), isText: true });
      return "";
    }
    case "literal":
      return fields["$literal"];
    default:
      return Object.fromEntries(
        Object.entries(fields).map(([key, member]) => [key, known(member, [...at, key], unknown)]),
      );
  }
}
