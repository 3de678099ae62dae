/** The public JSON Schema test suite, where it lies beside the checkout. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonSchema } from "../../src/protocol/tool.js";
import { SchemaCache, type CompileOptions } from "../../src/schema/cache.js";

/** Names the suite's folder, the one that holds `tests/`. */
export const SUITE_VARIABLE = "TOOLCELL_SCHEMA_SUITE";

/** Where the suite is looked for without the variable. */
const BESIDE = fileURLToPath(new URL("../../../../shared/fixtures/json-schema-suite", import.meta.url));

/** Folders of the suite, and the dialect that a schema in them has if it declares none. */
export const DRAFTS = {
  "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
  draft7: "http://json-schema.org/draft-07/schema#",
} as const;
export type Draft = keyof typeof DRAFTS;

interface Group {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

/** What became of one case. */
interface Outcome {
  /** `file | group | test`, as in the list of known failures. */
  readonly name: string;
  readonly holds: boolean;
}

/** The suite's folder; undefined where there is none. One that is named must be there. */
export function suiteFolder(): string | undefined {
  const named = process.env[SUITE_VARIABLE];
  if (named !== undefined && named !== "") return resolve(named);
  return existsSync(join(BESIDE, "tests")) ? BESIDE : undefined;
}

/** Runs every required case of a draft. */
export function runDraft(folder: string, draft: Draft, options: CompileOptions): Outcome[] {
  const tests = join(folder, "tests", draft);
  return readdirSync(tests)
    .filter((file) => file.endsWith(".json"))
    .flatMap((file) => {
      const groups = JSON.parse(readFileSync(join(tests, file), "utf8")) as readonly Group[];
      return groups.flatMap((group) => runGroup(file.slice(0, -".json".length), group, draft, options));
    });
}

function runGroup(file: string, { description, schema, tests }: Group, draft: Draft, options: CompileOptions) {
  const check = checkOf(typeof schema === "boolean" ? schema : { $schema: DRAFTS[draft], ...schema }, options);
  return tests.map(({ description: test, data, valid }): Outcome => {
    return { name: `${file} | ${description} | ${test}`, holds: check?.(data) === valid };
  });
}

/** Whether a value holds; undefined for a schema that is refused, with which no case of the suite does. */
function checkOf(schema: JsonSchema, options: CompileOptions): ((value: unknown) => boolean) | undefined {
  try {
    const compiled = new SchemaCache().compile(schema, options);
    return (value) => compiled.check(value) === undefined;
  } catch {
    return undefined;
  }
}
