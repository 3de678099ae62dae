import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { CONFIG_SCHEMA } from "../../src/cli/config.js";
import { ERROR_CODES, OUTCOMES } from "../../src/index.js";
import { PLAN_SCHEMA } from "../../src/plan/index.js";
import { packageFolder } from "../types/user-program.js";

describe("docs/errors.md", () => {
  const page = readFileSync(join(packageFolder, "docs/errors.md"), "utf8");

  it("tells what each code means; `npm run generate` writes it", () => {
    const rows = [...page.matchAll(/^\| `([A-Z_]+)` +\| (.*?) +\|$/gm)].map(([, code, meaning]) => [code, meaning]);
    expect(Object.fromEntries(rows)).to.deep.equal({ ...ERROR_CODES });
  });

  it("names every outcome", () => {
    for (const outcome of OUTCOMES) expect(page).to.include(`\`${outcome}\``);
  });
});

describe("schemas", () => {
  for (const [name, schema] of Object.entries({ plan: PLAN_SCHEMA, config: CONFIG_SCHEMA })) {
    it(`schemas/${name}.schema.json is what the code checks by; \`npm run generate\` writes it`, () => {
      const { $schema, ...written } = JSON.parse(
        readFileSync(join(packageFolder, "schemas", `${name}.schema.json`), "utf8"),
      ) as Record<string, unknown>;
      expect($schema).to.equal("https://json-schema.org/draft/2020-12/schema");
      expect(written).to.deep.equal(JSON.parse(JSON.stringify(schema)));
    });
  }
});
