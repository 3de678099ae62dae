import { expect } from "chai";
import { KNOWN_FAILURES } from "./suite-known-failures.js";
import { DRAFTS, runDraft, suiteFolder, SUITE_VARIABLE, type Draft } from "./suite.js";

describe("schema/suite", () => {
  const folder = suiteFolder();

  before(() => {
    if (folder !== undefined) return;
    console.log(
      `  The JSON Schema test suite was NOT run: it is not in ../shared/fixtures/json-schema-suite; ${SUITE_VARIABLE} may name its folder.`,
    );
  });

  for (const draft of Object.keys(DRAFTS) as Draft[]) {
    it(`check() answers as the JSON Schema test suite asks, ${draft}, but for the known failures`, function () {
      if (folder === undefined) return this.skip();
      // An untrusted schema is compiled in the same way, but for patterns that need the native engine.
      for (const trusted of [true, false]) {
        const outcomes = runDraft(folder, draft, { trusted });
        const held = new Set(outcomes.filter(({ holds }) => holds).map(({ name }) => name));
        const failed = outcomes.filter(({ holds }) => !holds).map(({ name }) => name);
        const known = new Set(KNOWN_FAILURES[draft].flatMap(({ cases }) => cases));
        const gone = [...known].filter((name) => !failed.includes(name));
        expect(
          {
            "new failures": failed.filter((name) => !known.has(name)),
            "unexpected passes": gone.filter((name) => held.has(name)),
            "no such case": gone.filter((name) => !held.has(name)),
          },
          `trusted: ${trusted}`,
        ).to.deep.equal({ "new failures": [], "unexpected passes": [], "no such case": [] });
        expect(failed, "a name stands for one case").to.have.length(known.size);
        if (trusted) console.log(`    ${draft}: ${outcomes.length - failed.length} of ${outcomes.length} cases hold`);
      }
    });
  }

  it("KNOWN_FAILURES names each case once", () => {
    for (const reasons of Object.values(KNOWN_FAILURES)) {
      const names = reasons.flatMap(({ cases }) => cases);
      expect(new Set(names).size).to.equal(names.length);
    }
  });
});
