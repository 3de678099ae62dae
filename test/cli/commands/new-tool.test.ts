import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { expect } from "chai";
import { EXIT } from "../../../src/cli/exit-codes.js";
import { temporaryFolder } from "../../fixtures/folder.js";
import { command, type CommandRun } from "../command.js";

describe("newTool()", () => {
  const folder = temporaryFolder();
  const make = (...words: string[]): Promise<CommandRun> =>
    command(["new", "tool", "word-count", ...words], { cwd: folder().path });
  const all = (): string[] => readdirSync(folder().path, { recursive: true }).map(String).sort();

  const mistakes: [string, () => void, string[], RegExp][] = [
    [
      "a config that cannot be read",
      () => folder().write("toolcell.config.json", '{ "modules": ['),
      [],
      /toolcell\.config\.json:\d+:\d+ /,
    ],
    [
      "a config of the wrong form",
      () => folder().write("toolcell.config.yaml", "modules: 1"),
      [],
      /toolcell\.config\.yaml:1:1 .*modules must be array/,
    ],
    [
      "a package.json that is no JSON",
      () => folder().write("package.json", '{\n"type": }'),
      [],
      /package\.json is no JSON at line 2, column 9/,
    ],
    [
      "a folder that is a file",
      () => folder().write("file", ""),
      ["--folder", "file"],
      /file cannot be made \(EEXIST\); nothing was changed/,
    ],
    [
      "a folder within a file",
      () => folder().write("file", ""),
      ["--folder", "file/in/it"],
      /cannot be made \(ENOTDIR\)/,
    ],
    [
      "a folder of too long a name",
      () => undefined,
      ["--folder", `new/${"x".repeat(300)}`],
      /cannot be made \(ENAMETOOLONG\)/,
    ],
    [
      "a folder that is a broken link",
      () => {
        symlinkSync("nowhere", folder().join("link"));
      },
      ["--folder", "link"],
      /cannot be made \(ENOENT\)/,
    ],
    [
      "a config that cannot be written",
      () => folder().mkdir("toolcell.config.json.new"),
      ["--folder", "some/where"],
      /toolcell\.config\.json\.new cannot be made \(E[A-Z]+\)/,
    ],
  ];
  for (const [what, prepare, words, expected] of mistakes) {
    it(`answers ${what} with one line, and leaves nothing behind`, async () => {
      prepare();
      const before = all();
      const result = await make(...words);
      expect(result).to.include({ code: EXIT.usage, stdout: "" });
      expect(result.stderr)
        .to.match(expected)
        .and.match(/^toolcell: [^\n]+\n$/);
      expect(all()).to.deep.equal(before);
    });
  }

  it("takes a package.json that says nothing", async () => {
    folder().write("package.json", "null");
    expect(await make()).to.include({ code: EXIT.ok });
    expect(all()).to.include("tools/word-count.mjs");
  });

  it("leaves a config that is JSON with more in it to its author", async () => {
    const text = "{ modules: [], }\n";
    folder().write("toolcell.config.json", text);
    const { code, stderr } = await make();
    expect(code).to.equal(EXIT.ok);
    expect(stderr).to.include('add "./tools/word-count.mjs" to `modules` of toolcell.config.json');
    expect(readFileSync(folder().join("toolcell.config.json"), "utf8")).to.equal(text);
  });

  it("writes through a config that is a link", async () => {
    folder().write("shared/config.json", "\ufeff{}");
    symlinkSync("shared/config.json", folder().join("toolcell.config.json"));
    expect(await make()).to.include({ code: EXIT.ok });
    const written = JSON.parse(readFileSync(folder().join("shared/config.json"), "utf8")) as unknown;
    expect(written).to.deep.equal({ modules: ["./tools/word-count.mjs"] });
  });

  it("quotes the test's path for a shell where it has to be", async () => {
    const lines = async (place: string): Promise<string> => (await make("--folder", place)).stderr;
    expect(await lines("plain")).to.include("test it:  node --test plain/word-count.test.mjs\n");
    expect(await lines("it's $HOME")).to.include("test it:  node --test 'it'\\''s $HOME/word-count.test.mjs'\n");
    expect(await lines("./-dash")).to.include("test it:  node --test ./-dash/word-count.test.mjs\n");
  });
});
