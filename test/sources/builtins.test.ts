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
    const outside = folder().write("outside.txt", "outside");
    chmodSync(text, 0o666);
    const runtime = newRuntime();
    await runtime.use(builtins());
    expect(runtime.registry.list().map(({ name }) => name)).to.deep.equal([
      "builtin/list-files",
      "builtin/read-file",
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
    expect((await run("word-frequency", { path: "text.txt" })).output).to.include({ words: 3, uniqueWords: 2 });
    const written = await run("write-file", { path: "text.txt", content: "new" });
    expect(written.changes.map(({ operation, path }) => [operation, path])).to.deep.equal([["modify", "text.txt"]]);
    expect(readFileSync(text, "utf8")).to.equal("new");
    expect(statSync(text).mode & 0o777).to.equal(0o666);
    for (const tool of ["read-file", "write-file"]) {
      const { error } = await run(tool, { path: outside, ...(tool === "write-file" && { content: "x" }) });
      expect(error?.code).to.equal("OUTSIDE_RESOURCE");
    }
    expect(readFileSync(outside, "utf8")).to.equal("outside");
  });
});
