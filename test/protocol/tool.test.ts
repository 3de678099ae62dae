import { expect } from "chai";
import fc from "fast-check";
import { isAnswer, isChange, ISOLATION_TIERS, markAnswer, TOOL_SOURCES } from "../../src/protocol/tool.js";

describe("protocol/tool", () => {
  it("TOOL_SOURCES names where tools come from", () => {
    expect([...TOOL_SOURCES]).to.deep.equal(["builtin", "custom", "wrapped", "mcp", "skill", "lsp"]);
  });

  it("ISOLATION_TIERS names the tiers, weakest first", () => {
    expect([...ISOLATION_TIERS]).to.deep.equal(["inline", "thread", "quickjs", "process", "container"]);
  });

  it("isChange() takes each operation, with and without path and time", () => {
    for (const operation of ["create", "modify", "delete"]) {
      expect(isChange({ operation, resourceId: "r" })).to.equal(true);
      expect(isChange({ operation, resourceId: "r", path: "a/b", timestamp: new Date().toISOString() })).to.equal(true);
    }
  });

  it("isChange() refuses what cannot be recorded", () => {
    const good = { operation: "create", resourceId: "r" };
    const bad: unknown[] = [
      undefined,
      null,
      0,
      "create",
      [],
      {},
      { ...good, operation: "rename" },
      { ...good, operation: undefined },
      { ...good, operation: "toString" },
      { ...good, resourceId: "" },
      { ...good, resourceId: 1 },
      { ...good, path: 1 },
      { ...good, path: null },
      { ...good, timestamp: 1 },
      { ...good, timestamp: new Date() },
    ];
    for (const value of bad) expect(isChange(value), JSON.stringify(value)).to.equal(false);
  });

  it("isChange() answers for anything", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(isChange(value)).to.be.a("boolean");
      }),
    );
  });

  it("isAnswer() knows an answer by its mark, not by its looks", () => {
    const answer = { success: true, output: 1, changes: [], transfer: [] };
    expect(isAnswer(answer)).to.equal(false);
    expect(isAnswer(markAnswer({ ...answer }))).to.equal(true);
    expect(isAnswer(structuredClone(answer))).to.equal(false);
    for (const value of [undefined, null, 0, "answer", () => undefined, []]) expect(isAnswer(value)).to.equal(false);
  });

  it("markAnswer() freezes the answer and leaves no field behind", () => {
    const answer = markAnswer({ success: true, output: 1, changes: [], transfer: [] });
    expect(Object.isFrozen(answer)).to.equal(true);
    expect(Object.keys(answer)).to.deep.equal(["success", "output", "changes", "transfer"]);
  });
});
