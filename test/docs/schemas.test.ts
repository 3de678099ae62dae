import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { CONFIG_SCHEMA } from "../../src/cli/config.js";
import { PLAN_SCHEMA } from "../../src/plan/index.js";
import { packageFolder } from "../types/user-program.js";

describe("schemas", () => {
  for (const [name, schema] of Object.entries({ plan: PLAN_SCHEMA, config: CONFIG_SCHEMA })) {
    it(`schemas/${name}.schema.json is what the code checks by; \`npm run schemas\` writes it`, () => {
      const { $schema, ...written } = JSON.parse(
        readFileSync(join(packageFolder, "schemas", `${name}.schema.json`), "utf8"),
      ) as Record<string, unknown>;
      expect($schema).to.equal("https://json-schema.org/draft/2020-12/schema");
      expect(written).to.deep.equal(JSON.parse(JSON.stringify(schema)));
    });
  }
});
