import { expect } from "chai";
import { readConfig } from "../../src/cli/config-source.js";
import { EXIT } from "../../src/cli/exit-codes.js";
import { UsageError } from "../../src/cli/usage-error.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { rejectionOf } from "../support/outcomes.js";
import { command } from "./command.js";

describe("config files", () => {
  const folder = temporaryFolder();

  it("loadConfig() answers what is wrong in one with one line and exit code 2", async () => {
    const cases: [string, string, RegExp][] = [
      ["a.json", '{ "modules": [1] }', /a\.json:1:15 the config at \/modules\/0 must be string or object$/],
      [
        "b.json",
        '{ "modules": [{ "module": "m.mjs",\n "codeFiles": "x" }] }',
        /b\.json:2:2 .*codeFiles must be array$/,
      ],
      ["c.yaml", "modules: [{ module: m.mjs, codeFiles: [1] }]", /c\.yaml:1:40 .*codeFiles\/0 must be string$/],
      ["d.yaml", "modules:\n  - { trusted: true }\n", /d\.yaml:2:5 the config at \/modules\/0 must name a `module`$/],
      [
        "e.json",
        '{\n  "resources": { "": { "path": "." } } }',
        /e\.json:2:18 the config has a resource without a name$/,
      ],
      [
        "f.mjs",
        "export default { get modules() { throw new Error('from\\nwithin'); } };",
        /f\.mjs cannot be loaded: from\n {2}within$/,
      ],
      ["g.mjs", "export default { runtime: { get graceMs() { throw 5; } } };", /g\.mjs cannot be loaded: 5$/],
      ["h.mjs", "const own = {}; own.runtime = own; export default own;", /h\.mjs cannot be loaded: /],
      ["i.mjs", "export const modules = [];", /i\.mjs the config must be object$/],
    ];
    for (const [name, text, expected] of cases) {
      folder().write(name, text);
      const result = await command(["list", "--config", name], { cwd: folder().path });
      expect(result, name).to.include({ code: EXIT.usage, stdout: "" });
      expect(result.stderr.trimEnd(), name)
        .to.match(expected)
        .and.not.match(/please report|^ +at /m);
    }
  });

  it("readConfig() does not wait for ever for a config that never comes to its end", async () => {
    const file = folder().write("never.mjs", "await new Promise(() => {}); export default {};");
    const error = await rejectionOf(readConfig(file, 1));
    expect(error)
      .to.be.instanceOf(UsageError)
      .and.have.property("message")
      .that.matches(/never\.mjs cannot be loaded: .* within 0\.001 s$/);
  });

  it("readConfig() asks a getter once", async () => {
    const file = folder().write(
      "once.mjs",
      "let asked = 0; export default { get builtins() { return asked++ === 0; } };",
    );
    const { value } = await readConfig(file);
    expect(value).to.deep.equal({ builtins: true });
    expect(value).to.deep.equal({ builtins: true });
  });
});
