import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { expect } from "chai";
import { completionScript } from "../../src/cli/completion.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { command } from "./command.js";

const SPEC = (name: string, input: string): string =>
  `export const spec = { name: ${JSON.stringify(name)}, description: "d", inputSchema: ${input}, capability: { writes: false } };
   export const execute = () => 1;`;

describe("completion", () => {
  const folder = temporaryFolder();

  it("completionScript() gives a script for bash that runs nothing of what it offers", async () => {
    const names = ["x/$(touch DONE)", "x/`touch DONE`", "x/a b", "x/*"];
    folder().write("*", "");
    const script = [
      `toolcell() { printf '%s\\n' ${names.map((name) => `'${name}'`).join(" ")}; }`,
      completionScript("bash"),
      `COMP_WORDS=(toolcell call x/); COMP_CWORD=2; _toolcell; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ].join("\n");
    const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", script], { cwd: folder().path });
    expect(stdout.trimEnd().split("\n")).to.deep.equal(names);
    expect(existsSync(folder().join("DONE"))).to.equal(false);
  });

  const complete = async (...words: string[]): Promise<string[]> => {
    const { stdout } = await command(["complete", "--", ...words], { cwd: folder().path });
    return stdout === "" ? [] : stdout.trimEnd().split("\n");
  };

  it("candidates() leaves out what means something to a shell, in whose line it would stand", async () => {
    for (const [index, name] of ["x/$(touch${IFS}DONE)", "x/a;b", "x/fine"].entries())
      folder().write(`${index}.mjs`, SPEC(name, "{}"));
    folder().write("toolcell.config.json", '{ "builtins": false, "modules": ["0.mjs", "1.mjs", "2.mjs"] }');
    expect(await complete("call", "x/")).to.deep.equal(["x/fine"]);
    expect(await complete("call", "")).to.deep.equal(["x/fine"]);
  });

  it("candidates() completes short names, also behind options and for tools that they load", async () => {
    folder().write("loaded.mjs", SPEC("my/loaded", "{}"));
    expect(await complete("call", "read")).to.deep.equal(["read-file"]);
    expect(await complete("call", "--json", "read")).to.deep.equal(["read-file"]);
    expect(await complete("call", "--timeout", "5", "builtin/read")).to.deep.equal(["builtin/read-file"]);
    expect(await complete("call", "--load", "loaded.mjs", "lo")).to.deep.equal(["loaded"]);
    expect(await complete("call", "--load=loaded.mjs", "my/")).to.deep.equal(["my/loaded"]);
    expect(await complete("call", "--load", "lo")).to.deep.equal([]);
    expect(await complete("describe", "read-file", "r")).to.deep.equal([]);
  });

  it("candidates() leaves short names out that two tools have", async () => {
    folder().write("a.mjs", SPEC("a/twice", "{}"));
    folder().write("b.mjs", SPEC("b/twice", "{}"));
    folder().write("toolcell.config.json", '{ "modules": ["a.mjs", "b.mjs"] }');
    expect(await complete("call", "tw")).to.deep.equal([]);
    expect(await complete("call", "twice", "--")).to.deep.equal([]);
  });

  it("candidates() offers the tool's own fields and their values behind its name", async () => {
    const schema = `{ type: "object", properties: { skipFolders: { type: "array" }, "two_words": {}, "$odd": {},
      mode: { enum: ["fast", "full"] }, on: { type: "boolean" } } }`;
    folder().write("fields.mjs", SPEC("my/fields", schema));
    const words = ["call", "--load", "fields.mjs", "fields"];
    expect(await complete(...words, "--")).to.deep.equal(["--skip-folders", "--two_words", "--mode", "--on"]);
    expect(await complete(...words, "")).to.include("--mode");
    expect(await complete(...words, "--s")).to.deep.equal(["--skip-folders"]);
    expect(await complete(...words, "--mode", "f")).to.deep.equal(["fast", "full"]);
    expect(await complete(...words, "--on", "--mo")).to.deep.equal(["--mode"]);
    expect(await complete("call", "read-file", "--t")).to.deep.equal([]);
    expect(await complete("bench", "read-file", "--pa")).to.deep.equal(["--path"]);
    expect(await complete("describe", "read-file", "--w")).to.deep.equal(["--write"]);
  });

  it("candidates() knows commands within commands, and what help takes", async () => {
    expect(await complete("new", "")).to.deep.equal(["tool"]);
    expect(await complete("new", "tool", "--f")).to.deep.equal(["--folder"]);
    expect(await complete("help", "ca")).to.deep.equal(["call"]);
    expect(await complete("he")).to.deep.equal(["help"]);
    expect(await complete("completion", "z")).to.deep.equal(["zsh"]);
  });
});
