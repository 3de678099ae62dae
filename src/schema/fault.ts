/** Why a schema cannot be used. */

/** What is wrong with a schema, and where. */
export class SchemaFault extends Error {
  /** JSON Pointer into the schema. */
  readonly pointer: string;
  /** The keyword at fault, "" when it is none. */
  readonly keyword: string;

  constructor(message: string, pointer = "", keyword = "") {
    super(message);
    this.pointer = pointer;
    this.keyword = keyword;
  }
}

/** Puts whatever went wrong with a schema into words. */
export function toFault(error: unknown): SchemaFault {
  if (error instanceof SchemaFault) return error;
  if (error instanceof RangeError) return new SchemaFault("the schema is too deep or too large to compile");
  return new SchemaFault(messageOf(error).slice(0, 300));
}

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "unknown";
  }
}
