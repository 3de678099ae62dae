import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { ToolCancelledError } from "../../src/tool.js";
import { execute } from "../../tools/query-json.js";
import type { Input, Output } from "../../tools/specs/query-json.js";
import { codeOf, fakeCall, outputOf, rejectionOf, temporaryFolder } from "./fake-context.js";

describe("tools/query-json", () => {
  let root: string;
  let remove: () => Promise<void>;

  before(async () => {
    ({ folder: root, remove } = await temporaryFolder());
    await mkdir(join(root, "folder"));
    await writeFile(join(root, "orders.json"), '\ufeff{"orders":[{"id":1,"total":5},{"id":2,"total":7}]}');
    await writeFile(
      join(root, "log.jsonl"),
      '\ufeff{"level":"info","n":1}\r\n\r\n{"level":"warn","n":2}\n{"level":"warn","n":3}',
    );
    await writeFile(join(root, "bad.json"), '{\n  "a": [1, 2,]\n}');
    await writeFile(join(root, "bad.jsonl"), '{"n":1}\n{"n":2\n{"n":3}\n');
    await writeFile(join(root, "many.jsonl"), Array.from({ length: 5_000 }, (_, n) => `{"n":${n}}\n`).join(""));
    await writeFile(join(root, "nul.json"), "a\0b");
    await writeFile(join(root, "large.json"), "");
    await truncate(join(root, "large.json"), 16 * 1024 * 1024 + 1);
    await symlink("/etc/passwd", join(root, "out"));
  });

  after(() => remove());

  const run = (input: Input): ReturnType<typeof execute> => execute(input, fakeCall({ path: root }).context);
  const query = async (input: Input): Promise<Output> => outputOf(await run(input));

  it("execute() queries a file", async () => {
    expect(await query({ path: "orders.json", expression: "$sum(orders.total)" })).to.deep.equal({
      result: 12,
      truncated: false,
    });
    expect(
      await query({ path: "orders.json", expression: "orders[total > $least].id", variables: { least: 6 } }),
    ).to.deep.equal({
      result: 2,
      truncated: false,
    });
    expect(await query({ path: "orders.json", expression: "nothing" })).to.deep.equal({ truncated: false });
  });

  it("execute() queries a value without a resource", async () => {
    const value = async (expression: string, input: unknown): Promise<Output> =>
      outputOf(await execute({ expression, value: input }, fakeCall().context));
    expect((await value("$map($, function($x) { $x * 2 })", [1, 2])).result).to.deep.equal([2, 4]);
    expect((await value("$", null)).result).to.equal(null);
    expect((await value("$", false)).result).to.equal(false);
    expect((await value('{"f": $sum, "a": 1}', {})).result).to.deep.include({ a: 1 });
  });

  it("execute() queries each line of JSON Lines", async () => {
    const expression = 'level = "warn" ? {"line": $line, "n": n}';
    expect(await query({ path: "log.jsonl", expression })).to.deep.equal({
      result: [
        { line: 3, n: 2 },
        { line: 4, n: 3 },
      ],
      truncated: false,
      lines: 3,
    });
    expect((await query({ path: "orders.json", format: "jsonl", expression: "$count(orders)" })).result).to.deep.equal([
      2,
    ]);
    expect((await query({ path: "orders.json", format: "jsonl", expression: "$line" })).result).to.deep.equal([1]);
  });

  it("execute() says where a text is not JSON", async () => {
    const document = await run({ path: "bad.json", expression: "a" });
    expect(document.error).to.deep.equal({
      code: "INVALID_JSON",
      message: 'Line 2, column 14 is not JSON: a value is expected, "]" stands there.',
      details: { path: "bad.json", line: 2, column: 14 },
    });
    const lines = await run({ path: "bad.jsonl", expression: "n" });
    expect(lines.error?.details).to.deep.equal({ path: "bad.jsonl", line: 2, column: 7 });
    expect(lines.error?.message).to.include("nothing follows");
  });

  it("execute() passes over and counts lines that are not JSON where it is asked to", async () => {
    expect(await query({ path: "bad.jsonl", expression: "n", invalidLines: "skip" })).to.deep.equal({
      result: [1, 3],
      truncated: false,
      lines: 2,
      invalidLines: 1,
    });
  });

  it("execute() cuts a long result and says so", async () => {
    const value = Array.from({ length: 50 }, (_, at) => at);
    expect(await query({ value, expression: "$", maxResults: 3 })).to.deep.equal({
      result: [0, 1, 2],
      truncated: true,
      total: 50,
    });
    expect((await query({ value, expression: "$", maxLength: 6 })).result).to.deep.equal([0, 1, 2]);
    expect(await query({ value, expression: "$", maxResults: 50 })).to.include({ truncated: false });
    expect(await query({ path: "many.jsonl", expression: "n", maxResults: 2 })).to.deep.equal({
      result: [0, 1],
      truncated: true,
      lines: 2,
    });
    expect((await query({ path: "many.jsonl", expression: "n" })).result).to.have.length(1_000);
    expect(codeOf(await run({ value, expression: '{"a": $}', maxLength: 20 }))).to.equal("TOO_LARGE");
  });

  it("execute() gives plain JSON, whatever the expression makes", async () => {
    const result = async (expression: string): Promise<unknown> =>
      (await query({ value: { a: [1, 2] }, expression })).result;
    expect(await result("$sum")).to.not.be.a("function");
    expect(await result('{"f": function($x) { $x }, "a": 1}')).to.deep.equal({ a: 1 });
    expect(await result('{"a": a, "__proto__": 1}')).to.have.own.property("__proto__", 1);
    const sequence = await result("a.{'v': $}");
    expect(structuredClone(sequence)).to.deep.equal([{ v: 1 }, { v: 2 }]);
    expect(Object.getPrototypeOf((sequence as object[])[0])).to.equal(Object.prototype);
  });

  it("execute() answers for a result that holds itself too many times to be given", async () => {
    const twice = "($f := function($x, $n) { $n = 0 ? $x : $f({'a': $x, 'b': $x}, $n - 1) }; $f(1, 60))";
    for (const expression of [twice, `[${twice}, ${twice}]`]) {
      expect(codeOf(await run({ value: 1, expression })), expression).to.equal("TOO_LARGE");
    }
  });

  it("execute() answers where it cannot query", async () => {
    for (const [input, code] of [
      [{ expression: "a" }, "INVALID_INPUT"],
      [{ expression: "a", path: "orders.json", value: 1 }, "INVALID_INPUT"],
      [{ expression: "a", value: 1, format: "jsonl" }, "INVALID_INPUT"],
      [{ expression: "a[", value: 1 }, "INVALID_EXPRESSION"],
      [{ expression: "1 + 'x'", value: 1 }, "EXPRESSION_FAILED"],
      [{ expression: "a", path: "none" }, "NOT_FOUND"],
      [{ expression: "a", path: "folder" }, "NOT_A_FILE"],
      [{ expression: "a", path: "folder", format: "jsonl" }, "NOT_A_FILE"],
      [{ expression: "a", path: "nul.json" }, "BINARY_FILE"],
      [{ expression: "a", path: "large.json" }, "TOO_LARGE"],
      [{ expression: "a", path: "out" }, "OUTSIDE_RESOURCE"],
      [{ expression: "a", path: "out", format: "jsonl" }, "OUTSIDE_RESOURCE"],
    ] as [Input, string][]) {
      expect(codeOf(await run(input)), JSON.stringify(input)).to.equal(code);
    }
  });

  it("execute() stops between lines when cancelled, and tells how far it is", async () => {
    const call = fakeCall({ path: root, onPoll: (polls, cancel) => (polls === 100 ? cancel() : undefined) });
    const work = execute({ path: "many.jsonl", expression: "n" }, call.context);
    expect(await rejectionOf(work)).to.be.instanceOf(ToolCancelledError);
    expect(call.polls()).to.equal(100);
    const whole = fakeCall({ path: root });
    outputOf(await execute({ path: "many.jsonl", expression: "n > 4998 ? n" }, whole.context));
    const [done, total] = whole.progress.at(-1) ?? [];
    expect(done).to.be.a("number").and.equal(total);
  });
});
