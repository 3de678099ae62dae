import { createHash } from "node:crypto";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { expect } from "chai";
import { builtins, type ToolResult } from "../../src/index.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { runtimesOfSuite } from "../support/runtimes.js";

describe("sources/builtins", () => {
  const newRuntime = runtimesOfSuite();
  const folder = temporaryFolder();

  it("builtins() gives tools that work in cells, on the bound folder alone", async () => {
    const text = folder().write("repo/text.txt", "one two two");
    folder().write("repo/.gitignore", "left-out.txt\n");
    folder().write("repo/left-out.txt", "two");
    const outside = folder().write("outside.txt", "outside");
    chmodSync(text, 0o666);
    const runtime = newRuntime();
    await runtime.use(builtins());
    expect(runtime.registry.list().map(({ name }) => name)).to.deep.equal([
      "builtin/delete-file",
      "builtin/diff-text",
      "builtin/edit-file",
      "builtin/hash-files",
      "builtin/list-files",
      "builtin/make-folder",
      "builtin/move-file",
      "builtin/query-json",
      "builtin/read-file",
      "builtin/search-files",
      "builtin/word-frequency",
      "builtin/write-file",
    ]);
    const repo = {
      slotName: "repo",
      resourceId: "r",
      resourceType: "folder",
      path: folder().join("repo"),
      access: "read_write",
    } as const;
    const plan = runtime.plan({ planId: "p", boundResources: [repo] });
    const run = async (tool: string, input: object): Promise<ToolResult> => {
      const result = await plan.execute(`builtin/${tool}`, input);
      expect(result.trace.cell).to.include({ tier: "thread" });
      return result;
    };
    expect((await run("list-files", {})).output).to.deep.include({
      files: [{ path: "text.txt", size: 11, type: "file" }],
    });
    expect((await run("read-file", { path: "text.txt" })).output).to.include({ content: "one two two" });
    const found = (await run("search-files", { pattern: "(?i)TWO", include: ["*.txt"] })).output;
    expect(found).to.deep.include({
      matches: [{ path: "text.txt", line: 1, column: 5, text: "one two two", match: "two" }],
    });
    const digests = { sha256: createHash("sha256").update("one two two").digest("hex") };
    expect((await run("hash-files", { expected: [{ path: "text.txt", digests }] })).output).to.deep.include({
      files: [{ path: "text.txt", size: 11, digests, verified: true }],
    });
    expect((await run("word-frequency", { path: "text.txt" })).output).to.include({ words: 3, uniqueWords: 2 });
    const written = await run("write-file", { path: "text.txt", content: "new" });
    expect(written.changes.map(({ operation, path }) => [operation, path])).to.deep.equal([["modify", "text.txt"]]);
    expect(readFileSync(text, "utf8")).to.equal("new");
    expect(statSync(text).mode & 0o777).to.equal(0o666);
    const edit = { oldText: "new", newText: "newer" };
    const edited = await run("edit-file", { path: "text.txt", edits: [edit] });
    expect(edited.changes.map(({ operation, path }) => [operation, path])).to.deep.equal([["modify", "text.txt"]]);
    const compared = await run("diff-text", { left: { path: "text.txt" }, right: { text: "newer" } });
    expect(compared.output).to.include({ identical: true });
    expect((await run("query-json", { value: [1, 2], expression: "$sum($)" })).output).to.include({ result: 3 });
    expect((await run("make-folder", { path: "made" })).changes).to.have.length(1);
    const moved = await run("move-file", { from: "text.txt", to: "made/text.txt" });
    expect(moved.changes.map(({ operation }) => operation)).to.deep.equal(["delete", "create"]);
    expect((await run("delete-file", { path: "made", recursive: true })).changes).to.have.length(2);
    folder().write("repo/text.txt", "new");
    for (const tool of ["read-file", "write-file"]) {
      const { error } = await run(tool, { path: outside, ...(tool === "write-file" && { content: "x" }) });
      expect(error?.code).to.equal("OUTSIDE_RESOURCE");
    }
    expect(readFileSync(outside, "utf8")).to.equal("outside");
  });

  it("builtins() query JSON under the call's deadline, whatever the expression is", async () => {
    const outcomesOf = async (graceMs: number, input: object): Promise<unknown[]> => {
      const runtime = newRuntime({ graceMs });
      await runtime.use(builtins());
      const plan = runtime.plan({ planId: "p" });
      const outcomes: unknown[] = [];
      const sum = { value: [1, 2], expression: "$sum($)" };
      // The first call has the cell ready, so that the deadline of the second one ends the query itself.
      for (const [each, timeoutMs] of [
        [sum, 60_000],
        [input, 500],
        [sum, 60_000],
      ] as const) {
        outcomes.push(
          await plan.execute("builtin/query-json", each, { timeoutMs }).then(
            (result) => result.trace.outcome,
            (error: unknown) => (error as { outcome: unknown }).outcome,
          ),
        );
      }
      return outcomes;
    };
    const endless = { value: 1, expression: "($f := function($x) { $f($x + 1) }; $f(1))", timeoutMs: 600_000 };
    expect(await outcomesOf(15_000, endless)).to.deep.equal(["ok", "timed_out", "ok"]);
    // Comparing two lists looks at no token, and these hold one list 2^28 times: the cell is killed.
    const list = (name: string): string =>
      [`$${name}0 := [1]`]
        .concat(
          Array.from({ length: 28 }, (_, level) => `$${name}${level + 1} := [[$${name}${level}], [$${name}${level}]]`),
        )
        .join("; ");
    const stuck = { value: 1, expression: `(${list("a")}; ${list("b")}; $a28 = $b28)`, timeoutMs: 600_000 };
    expect(await outcomesOf(20, stuck)).to.deep.equal(["ok", "killed", "ok"]);
  });
});
