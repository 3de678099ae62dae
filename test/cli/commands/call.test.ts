import { PassThrough } from "node:stream";
import { expect } from "chai";
import { EXIT } from "../../../src/cli/exit-codes.js";
import { runCommand } from "../../../src/cli/run-command.js";
import { Terminal } from "../../../src/cli/terminal.js";
import { temporaryFolder } from "../../fixtures/folder.js";
import { command, jsonOf, type CommandOptions, type CommandRun } from "../command.js";

describe("call()", () => {
  const folder = temporaryFolder();
  const run = (words: string[], options: Partial<CommandOptions> = {}): Promise<CommandRun> =>
    command(words, { cwd: folder().path, ...options });
  const module = (execute: string, spec = ""): string =>
    folder().write(
      "tool.mjs",
      `export const spec = { name: "my/tool", description: "d", inputSchema: { type: "object" }, capability: { writes: false }, ${spec} };
       export const execute = ${execute};`,
    );

  it("prints what JSON has no form for, as the output and within the whole result", async () => {
    module("() => { const own = { big: 12345678901234567890n, map: new Map([[1, 2]]) }; own.own = own; return own; }");
    const output = (own: string): object => ({ big: "12345678901234567890", map: { Map: [[1, 2]] }, own });
    const plain = await run(["call", "--load", "tool.mjs", "tool"]);
    expect(plain).to.include({ code: EXIT.ok, stderr: "" });
    expect(jsonOf(plain)).to.deep.equal(output("[circular: the whole]"));
    const whole = await run(["call", "--json", "--load", "tool.mjs", "tool"]);
    expect(whole).to.include({ code: EXIT.ok, stderr: "" });
    expect(jsonOf(whole)).to.deep.include({ output: output("[circular: /output]") });
  });

  it("shows a log's data that JSON has no form for", async () => {
    module(`(_, { log }) => { log.info("data", { big: 1n }); return 1; }`);
    expect(await run(["call", "--load", "tool.mjs", "tool"])).to.include({
      code: EXIT.ok,
      stderr: 'info: data {"big":"1"}\n',
    });
  });

  it("reads a file with a byte order mark, and says where one is no JSON", async () => {
    folder().write("a.txt", "hello");
    folder().write("bom.json", '\ufeff{ "path": "a.txt" }');
    folder().write("bad.json", '{\n  "path": "a.txt",\n}');
    expect(jsonOf(await run(["call", "read-file", "@bom.json"]))).to.include({ content: "hello" });
    const bad = await run(["call", "read-file", "@bad.json"]);
    expect(bad).to.include({ code: EXIT.usage, stdout: "" });
    expect(bad.stderr).to.match(/^toolcell: bad\.json is no JSON at line 3, column 1\./);
  });

  it("reads fields by what their schemas admit", async () => {
    module(
      "(input) => input",
      `inputSchema: { type: "object", $defs: { text: { type: "string" } }, properties: { nullable: { type: ["string", "null"] },
        listed: { enum: ["1", "2"] }, union: { anyOf: [{ type: "string" }, { type: "null" }] }, referred: { $ref: "#/$defs/text" },
        one: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, ["__proto__"]: {} } },`,
    );
    const words = "--nullable 12 --listed 1 --union null --referred 3 --one a --one b --__proto__ x".split(" ");
    const result = await run(["call", "--load", "tool.mjs", "tool", ...words]);
    expect(result.stdout.replace(/\s+/g, ""), result.stderr).to.equal(
      '{"nullable":"12","listed":"1","union":null,"referred":"3","one":["a","b"],"__proto__":"x"}',
    );
  });

  it("writes control characters out, of logs, changes and errors", async () => {
    module(
      `(input, context) => {
         context.log.info("one\\nwarning: fake\\u001b[1A\\u001b[2K\\r\\u009b31m");
         context.recordChange({ operation: "create", resourceId: "r", path: "a\\u001b[31m\\nmodify b" });
         if (input.bad) throw new Error("bad\\u001b[2J\\nEXECUTION_FAILED: fake");
         return "out\\u001b[31m\\u009b";
       }`,
      "capability: { writes: true },",
    );
    const good = await run(["call", "--write", "--load", "tool.mjs", "tool"]);
    expect(good).to.include({ code: EXIT.ok, stdout: '"out\\u001b[31m\\u009b"\n' });
    expect(good.stderr).to.equal(
      "info: one\n  warning: fake\\u001b[1A\\u001b[2K\\u000d\\u009b31m\ncreate a\\u001b[31m\n  modify b\n",
    );
    const bad = await run(["call", "-q", "--write", "--load", "tool.mjs", "tool", "--bad", "true"]);
    expect(bad.code).to.equal(EXIT.failed);
    expect(bad.stderr).to.match(/^EXECUTION_FAILED: .*bad\\u001b\[2J\n {2}EXECUTION_FAILED: fake\n$/);
  });

  it("gives a raw text on as it is, but to a terminal, which would do what it says", async () => {
    module(`() => "a\\u001b[31m\\n\\tb"`);
    const words = ["call", "--raw", "--load", "tool.mjs", "tool"];
    expect(await run(words)).to.include({ stdout: "a\u001b[31m\n\tb\n" });
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const host = { cwd: folder().path, stdin, stdout: Object.assign(stdout, { isTTY: true }), stderr, env: {} };
    expect(await runCommand(new Terminal(host), words)).to.equal(EXIT.ok);
    expect(String(stdout.read())).to.equal("a\\u001b[31m\n\tb\n");
  });

  it("list() and describe() write control characters out", async () => {
    module(
      "() => 1",
      `version: "1\\u001b[2J", description: "About\\u001b[2J\\nGrant\\r\\u009b", inputSchema: { type: "object",
        properties: { "f\\u001b[1m": { type: "string", description: "x\\u0007\\ny" } } },`,
    );
    for (const words of [["list"], ["describe"], ["describe", "--json"]]) {
      const named = words[0] === "describe" ? ["tool"] : [];
      const { code, stdout } = await run([...words, "--load", "tool.mjs", ...named]);
      expect(code).to.equal(EXIT.ok);
      expect(stdout).to.not.match(/[^\P{Cc}\n]/u);
      expect(
        stdout.split("\n").filter((line) => line === "Grant"),
        stdout,
      ).to.have.length.at.most(1);
    }
  });
});
