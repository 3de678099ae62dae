import { expect } from "chai";
import { EXIT } from "../../../src/cli/exit-codes.js";
import { temporaryFolder } from "../../fixtures/folder.js";
import { command, jsonOf, type CommandRun } from "../command.js";

describe("run()", () => {
  const folder = temporaryFolder();
  const run = (...words: string[]): Promise<CommandRun> => command(["run", ...words], { cwd: folder().path });

  it("tells problems of syntax and form as it tells those of meaning", async () => {
    folder().write("syntax.yaml", "steps: [\n");
    folder().write("form.yaml", "steps:\n  - { id: a }\n");
    folder().write("meaning.yaml", "steps:\n  - { id: a, tool: builtin/nothing }\n");
    for (const name of ["syntax", "form", "meaning"]) {
      const file = `${name}.yaml`;
      for (const words of [["--json", "--dry-run"], ["--json"]]) {
        const result = await run(...words, file);
        expect(result, name).to.include({ code: EXIT.usage, stderr: "" });
        expect(jsonOf(result)).to.include({ file }).and.have.nested.property("problems[0].line").that.is.a("number");
      }
      const plain = await run("--dry-run", file);
      expect(plain, name).to.include({ code: EXIT.usage, stdout: "" });
      expect(plain.stderr, name).to.match(new RegExp(`^${file}:\\d+:\\d+ [^\\n]+\\n$`));
    }
    const none = await run("--json", "--dry-run", "none.yaml");
    expect(none).to.include({ code: EXIT.usage, stdout: "" });
    expect(none.stderr).to.equal("toolcell: The plan none.yaml cannot be read: there is no such file.\n");
  });

  it("keeps the whole report where an output has no form in JSON", async () => {
    folder().write(
      "tool.mjs",
      `export const spec = { name: "my/tool", description: "d", inputSchema: {}, capability: { writes: false } };
       export const execute = () => { const own = { big: 1n }; own.own = own; return own; };`,
    );
    folder().write("plan.yaml", "steps:\n  - { id: a, tool: my/tool }\n");
    const result = await run("-q", "--load", "tool.mjs", "plan.yaml");
    expect(result).to.include({ code: EXIT.ok, stderr: "" });
    expect(jsonOf(result)).to.have.deep.nested.property("steps.a.output", {
      big: "1",
      own: "[circular: /steps/a/output]",
    });
  });

  it("writes control characters of logs and errors out, and lets them fake no line", async () => {
    folder().write(
      "tool.mjs",
      `export const spec = { name: "my/tool", description: "d", inputSchema: {}, capability: { writes: false } };
       export const execute = (_, { log }) => { log.info("one\\nb: ok after\\u001b[2K"); throw new Error("bad\\u009b\\nb: ok"); };`,
    );
    folder().write("plan.yaml", "steps:\n  - { id: a, tool: my/tool }\n");
    const { stderr } = await run("--load", "tool.mjs", "plan.yaml");
    expect(stderr).to.include("my/tool info: one\n  b: ok after\\u001b[2K\n").and.include("bad\\u009b\n  b: ok\n");
    expect(stderr).not.to.match(/^b: ok|[^\P{Cc}\n]/mu);
  });
});
