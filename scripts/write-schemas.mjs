#!/usr/bin/env node
// Writes the JSON Schemas of plan files and config files, which editors read, from the ones that the code checks by.
//
//   node scripts/write-schemas.mjs
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import { CONFIG_SCHEMA } from "../dist/src/cli/config.js";
import { PLAN_SCHEMA } from "../dist/src/plan/index.js";

const folder = fileURLToPath(new URL("../schemas/", import.meta.url));
mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries({ plan: PLAN_SCHEMA, config: CONFIG_SCHEMA })) {
  const document = { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema };
  const options = { parser: "json", printWidth: 120 };
  writeFileSync(`${folder}${name}.schema.json`, await format(JSON.stringify(document), options));
}
