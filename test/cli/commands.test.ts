import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { EXIT } from "../../src/cli/exit-codes.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { command, jsonOf, type CommandOptions, type CommandRun } from "./command.js";

const SPEC = (name: string): string =>
  `export const spec = { name: "my/${name}", description: "For tests.", inputSchema: { type: "object" }, capability: { writes: false } };`;

describe("the command", () => {
  const folder = temporaryFolder();
  const run = (words: string[], options: Partial<CommandOptions> = {}): Promise<CommandRun> =>
    command(words, { cwd: folder().path, ...options });
  const module = (name: string, execute: string): string =>
    folder().write(`${name}.mjs`, `${SPEC(name)}\nexport ${execute}`);

  describe("mistakes", () => {
    const oneLine = ({ stderr }: CommandRun): string => {
      expect(stderr.trimEnd().split("\n"), stderr).to.have.length(1);
      expect(stderr).not.to.match(/\n\s+at /);
      return stderr.trimEnd();
    };

    it("runCommand() answers each with one clear line, exit code 2 and nothing on stdout", async () => {
      folder().write("bad.json", "{");
      folder().write("text.txt", "text");
      const module = folder().write("broken.mjs", "throw new TypeError('at the top');");
      const cases: [string[], RegExp][] = [
        [["describe", "read-fle"], /no tool "read-fle"; did you mean "builtin\/read-file"\?/],
        [["call", "nothing-like-it"], /no tool "nothing-like-it"\. `toolcell list`/],
        [["call", "read-file"], /Input validation failed .* required property 'path'/],
        [["call", "read-file", "{"], /the input is no JSON at line 1, column 2/],
        [["call", "read-file", "{}", "{}"], /one too many/],
        [["call", "read-file", "@none.json"], /none\.json cannot be read \(ENOENT\)/],
        [["call", "read-file", "@bad.json"], /bad\.json is no JSON/],
        [["call", "read-file", "[]", "--path", "x"], /an input that is an object/],
        [["call", "read-file", "--pth", "x"], /no field "pth"; did you mean --path\?/],
        [["call", "read-file", "--path"], /--path wants a value/],
        [["call", "read-file", "--path", "x", "--offset", "two"], /--offset wants a number, not "two"/],
        [["call", "--timeout", "soon", "read-file"], /--timeout <ms>.*invalid.*whole number/],
        [["call", "--bind", "repo", "read-file", "{}"], /--bind takes slot=path, not "repo"/],
        [["call", "--load", "none.mjs", "read-file", "{}"], /none\.mjs/],
        [["call", "--load", module, "read-file", "{}"], /at the top/],
        [["run", "none.yaml"], /The plan none\.yaml cannot be read: there is no such file/],
        [["run", "."], /it is a folder/],
        [["run", "text.txt", "--set", "x"], /must be object|--set takes/],
        [["list", "--config", "none.json"], /none\.json cannot be read \(ENOENT\)/],
        [["list", "--config", "bad.json"], /bad\.json:1:2 /],
        [["new", "tool", "Not A Name"], /is no name for a tool/],
        [["completion", "tcsh"], /bash, zsh, fish/],
      ];
      for (const [words, expected] of cases) {
        const result = await run(words);
        expect(result.code, words.join(" ")).to.equal(EXIT.usage);
        expect(result.stdout, words.join(" ")).to.equal("");
        if (words[1] !== "text.txt") expect(oneLine(result), words.join(" ")).to.match(expected);
      }
    });

    it("runCommand() tells of commands and options that are not there", async () => {
      expect(await run(["lst"]))
        .to.include({ code: EXIT.usage, stdout: "" })
        .and.have.property("stderr")
        .that.includes("list");
      const option = await run(["list", "--jsn"]);
      expect(option).to.include({ code: EXIT.usage }).and.have.property("stderr").that.includes("--json");
      expect(await run(["call"])).to.include({ code: EXIT.usage });
      expect(await run(["bench", "read-file", "{}", "--plans"])).to.include({ code: EXIT.usage });
    });
  });

  it("runCommand() shows help and version on stdout", async () => {
    const { code, stdout } = await run(["--help"]);
    expect(code).to.equal(EXIT.ok);
    for (const name of ["list", "describe", "call", "run", "new", "bench", "doctor", "completion"])
      expect(stdout).to.include(name);
    expect((await run(["--version"])).stdout).to.match(/^\d+\.\d+\.\d+\n$/);
    expect((await run(["help", "call"])).stdout).to.include("--field value");
  });

  it("list() prints tools, also those of modules, as a table or JSON", async () => {
    const path = module("mine", "const execute = () => 1;");
    const { stdout, stderr } = await run(["list", "--load", path]);
    expect(stdout)
      .to.match(/^tool +writes +source/)
      .and.include("builtin/read-file")
      .and.include("my/mine");
    expect(stderr).to.equal("");
    const tools = jsonOf(await run(["list", "--json", "--namespace", "my", "--load", path])) as { name: string }[];
    expect(tools.map(({ name }) => name)).to.deep.equal(["my/mine"]);
  });

  it("describe() tells fields, grant and what holds it", async () => {
    const { stdout } = await run(["describe", "read-file"]);
    for (const part of ["builtin/read-file", "path", "required", "Grant", "fs.read", folder().path])
      expect(stdout).to.include(part);
    const descriptor = jsonOf(await run(["describe", "--json", "write-file"])) as { readOnly: object };
    expect(descriptor.readOnly).to.deep.include({ trusted: false });
  });

  describe("call()", () => {
    it("prints the output and nothing else on stdout, whichever way the input comes", async () => {
      folder().write("a.txt", "hello");
      folder().write("input.json", '{"path":"a.txt"}');
      for (const [words, stdin] of [
        [['{"path":"a.txt"}'], ""],
        [["@input.json"], ""],
        [["-"], '{"path":"a.txt"}'],
        [["--path", "a.txt"], ""],
        [["--path=a.txt"], ""],
        [['{"path":"b.txt"}', "--path", "a.txt"], ""],
      ] as const) {
        const result = await run(["call", "read-file", ...words], { stdin });
        expect(result, words.join(" ")).to.include({ code: EXIT.ok, stderr: "" });
        expect(jsonOf(result)).to.include({ content: "hello" });
      }
    });

    it("reads fields by their types: numbers, switches, lists, JSON", async () => {
      const spec = `export const spec = { name: "my/echo", description: "Echoes.", capability: { writes: false }, inputSchema: { type: "object",
        properties: { text: { type: "string" }, count: { type: "integer" }, on: { type: "boolean" }, off: { type: "boolean" },
          tags: { type: "array", items: { type: "string" } }, sizes: { type: "array", items: { type: "number" } }, any: {}, twoWords: { type: "string" } } } };`;
      folder().write("echo.mjs", `${spec}\nexport const execute = (input) => input;`);
      const words =
        '--text 12 --count 12 --on --off false --tags a --tags b --sizes [1,2] --any {"x":[]} --two-words=--x'.split(
          " ",
        );
      const { stdout } = await run(["call", "--load", "echo.mjs", "echo", ...words]);
      expect(JSON.parse(stdout)).to.deep.equal({
        text: "12",
        count: 12,
        on: true,
        off: false,
        tags: ["a", "b"],
        sizes: [1, 2],
        any: { x: [] },
        twoWords: "--x",
      });
    });

    it("exits with 1 where the tool fails, and says why on stderr", async () => {
      const throws = module("throws", `const execute = () => { throw new RangeError("out of luck"); };`);
      const thrown = await run(["call", "--load", throws, "throws"]);
      expect(thrown).to.include({ code: EXIT.failed, stdout: "" });
      expect(thrown.stderr).to.match(/^EXECUTION_FAILED: .*RangeError: out of luck/);
      const missing = await run(["call", "read-file", "--path", "none.txt"]);
      expect(missing).to.include({ code: EXIT.failed, stdout: "" });
      expect(missing.stderr).to.match(/^NOT_FOUND|^FILE_NOT_FOUND|none\.txt/);
      const json = jsonOf(await run(["call", "--json", "--load", throws, "throws"])) as {
        success: boolean;
        trace: object;
      };
      expect(json).to.deep.include({ success: false }).and.have.nested.property("trace.outcome", "threw");
    });

    it("kills at its deadline what does not stop", async () => {
      const spins = module("spins", "const execute = () => { for (;;); };");
      const result = await run(["call", "--load", spins, "--timeout", "1500", "spins"]);
      expect(result).to.include({ code: EXIT.failed, stdout: "" });
      expect(result.stderr).to.match(/TIMED_OUT: .*its cell was killed/);
    });

    it("shows logs and changes on stderr, unless told to be quiet, and writes only where it may", async () => {
      const refused = await run(["call", "write-file", "--path", "new.txt", "--content", "x"]);
      expect(refused).to.include({ code: EXIT.failed, stdout: "" });
      const written = await run(["call", "--write", "write-file", "--path", "new.txt", "--content", "x"]);
      expect(written.code).to.equal(EXIT.ok);
      expect(written.stderr).to.equal("create new.txt\n");
      expect(readFileSync(folder().join("new.txt"), "utf8")).to.equal("x");
      const logs = module(
        "logs",
        `const execute = (_, { log }) => { log.info("hello", { a: 1 }); console.log("printed"); return "out"; };`,
      );
      const loud = await run(["call", "--raw", "--trace", "--load", logs, "logs"]);
      expect(loud.stdout).to.equal("out\n");
      expect(loud.stderr)
        .to.include('info: hello {"a":1}')
        .and.include("printed")
        .and.match(/ok in .* run /);
      expect(await run(["call", "-q", "--load", logs, "logs"])).to.include({ stdout: '"out"\n', stderr: "" });
    });
  });

  describe("config", () => {
    it("loadConfig() finds the nearest one upwards, and starts its paths there", async () => {
      folder().write(
        "tools/mine.mjs",
        `${SPEC("mine")}\nexport const execute = (_, { resource }) => resource("data")?.path ?? "none";`,
      );
      folder().write("data/x.txt", "x");
      folder().write("deep/er/x.txt", "x");
      for (const [name, text] of [
        ["toolcell.config.yaml", "modules: [./tools/mine.mjs]\nresources: { data: { path: data } }\nbuiltins: false\n"],
        [
          "toolcell.config.mjs",
          `export default { modules: [{ module: "./tools/mine.mjs", trusted: false }], builtins: false };`,
        ],
      ] as const) {
        folder().write(name, text);
        const { stdout } = await run(["list", "--json"], { cwd: folder().join("deep/er") });
        expect((JSON.parse(stdout) as { name: string }[]).map((tool) => tool.name)).to.deep.equal(["my/mine"]);
        folder().write(name, "");
        (await import("node:fs")).rmSync(folder().join(name));
      }
    });

    it("loadConfig() says where a config is wrong", async () => {
      folder().write("toolcell.config.json", '{\n  "modules": [],\n  "runtime": { "graceMs": "x" }\n}');
      expect((await run(["list"])).stderr).to.match(/toolcell\.config\.json: .*graceMs/);
      folder().write("toolcell.config.json", '{\n  "modlues": []\n}');
      expect((await run(["list"])).stderr).to.match(/toolcell\.config\.json:1:1 .*modlues/);
      folder().write("toolcell.config.json", '{\n  "modules": [{}]\n}');
      expect((await run(["list"])).stderr).to.match(/modules\/0 must name/);
    });
  });

  describe("run()", () => {
    const PLAN = [
      "plan: words",
      "readOnly: true",
      "resources: { repo: { path: . } }",
      "params: { glob: { default: '**/*.txt' } }",
      "steps:",
      "  - { id: files, tool: builtin/list-files, input: { glob: { $from: /params/glob } } }",
      "  - id: words",
      "    tool: builtin/word-frequency",
      "    forEach: { items: { $from: /steps/files/output/files } }",
      "    input: { path: { $from: /item/path } }",
    ].join("\n");

    it("prints one JSON document, and lines on stderr", async () => {
      folder().write("plan.yaml", PLAN);
      folder().write("a.txt", "one two");
      folder().write("b.txt", "three");
      const result = await run(["run", "plan.yaml"]);
      expect(result.code).to.equal(EXIT.ok);
      const report = jsonOf(result) as {
        outcome: string;
        calls: number;
        steps: Record<string, { output: { words: number }[] }>;
      };
      expect(report).to.include({ outcome: "ok", calls: 3 });
      expect(report.steps["words"]?.output.map(({ words }) => words)).to.deep.equal([2, 1]);
      expect(result.stderr)
        .to.match(/files: builtin\/list-files starts/)
        .and.match(/words: ok after/)
        .and.match(/words: ok, 3 calls/);
      const set = await run(["run", "-q", "--set", "glob=a.*", "plan.yaml"]);
      expect(set.stderr).to.equal("");
      expect(jsonOf(set)).to.include({ calls: 2 });
    });

    it("exits with 1 where a step fails, with 2 where the plan is wrong", async () => {
      folder().write(
        "fails.yaml",
        "resources: { repo: { path: . } }\nsteps:\n  - { id: a, tool: builtin/read-file, input: { path: none.txt } }\n",
      );
      const failed = await run(["run", "fails.yaml"]);
      expect(failed.code).to.equal(EXIT.failed);
      expect(jsonOf(failed)).to.include({ outcome: "failed" });
      folder().write("wrong.yaml", PLAN.replace("list-files", "lst-files"));
      const wrong = await run(["run", "wrong.yaml"]);
      expect(wrong).to.include({ code: EXIT.usage, stdout: "" });
      expect(wrong.stderr).to.match(
        /^wrong\.yaml:6:\d+ no tool "builtin\/lst-files" is registered; did you mean "builtin\/list-files"\?\n$/,
      );
      const dry = await run(["run", "--dry-run", "--json", "wrong.yaml"]);
      expect(jsonOf(dry)).to.have.nested.property("problems[0].line", 6);
      folder().write("right.yaml", PLAN);
      expect(await run(["run", "--dry-run", "right.yaml"])).to.include({ code: EXIT.ok, stdout: "" });
    });
  });

  describe("newTool()", () => {
    const own = fileURLToPath(new URL("../../../", import.meta.url));
    const project = (manifest: object): void => {
      folder().write("package.json", JSON.stringify(manifest));
      folder().link("node_modules/toolcell", own);
      folder().link("node_modules/@sinclair", join(own, "node_modules/@sinclair"));
    };
    const configured = (): unknown => JSON.parse(readFileSync(folder().join("toolcell.config.json"), "utf8"));

    for (const [manifest, ending] of [
      [{ type: "commonjs" }, "mjs"],
      [{}, "mjs"],
      [{ type: "module" }, "js"],
    ] as const) {
      it(`makes a tool that runs, and a test that passes, in a package like ${JSON.stringify(manifest)}`, async () => {
        project(manifest);
        expect(await run(["new", "tool", "word-count"])).to.include({ code: EXIT.ok, stdout: "" });
        const called = await run(["call", "word-count", "--text", "one two three"]);
        expect(called, called.stderr).to.include({ code: EXIT.ok });
        expect(jsonOf(called)).to.deep.equal({ words: 3 });
        // Node's test runner takes itself for a part of the one that it is started by.
        const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_V8_COVERAGE: undefined };
        const { stdout } = await promisify(execFile)(process.execPath, ["--test", `tools/word-count.test.${ending}`], {
          cwd: folder().path,
          env,
        });
        expect(stdout)
          .to.match(/pass 1/)
          .and.match(/fail 0/);
      });
    }

    it("enters each tool in the config once, and overwrites nothing", async () => {
      project({ type: "module" });
      await run(["new", "tool", "word-count"]);
      expect(configured()).to.deep.equal({ modules: ["./tools/word-count.js"] });
      const again = await run(["new", "tool", "word-count"]);
      expect(again).to.include({ code: EXIT.usage });
      expect(again.stderr).to.include("is there already");
      await run(["new", "tool", "acme/other", "--folder", "mine"]);
      expect(configured()).to.deep.equal({ modules: ["./tools/word-count.js", "./mine/other.js"] });
    });
  });

  it("bench() measures a tool and a plan", async () => {
    folder().write("a.txt", "one");
    folder().write(
      "plan.yaml",
      "resources: { repo: { path: . } }\nsteps: [{ id: a, tool: builtin/read-file, input: { path: a.txt } }]\n",
    );
    const flags = ["--json", "--plans", "2", "--calls", "3", "--warm-up", "1"];
    for (const words of [["read-file", "--path", "a.txt"], ["plan.yaml"]]) {
      const result = await run(["bench", ...flags, ...words]);
      expect(result.code, result.stderr).to.equal(EXIT.ok);
      expect(jsonOf(result))
        .to.deep.include({ calls: 6, outcomes: { ok: 6 } })
        .and.have.nested.property("plans.count", 2);
    }
    const table = await run([
      "bench",
      "--plans",
      "1",
      "--calls",
      "2",
      "--warm-up",
      "0",
      "read-file",
      "--path",
      "a.txt",
    ]);
    expect(table.stdout)
      .to.match(/^phase +p50 ms +p90 ms +p99 ms/)
      .and.include("2 calls in")
      .and.include("event-loop delay");
  });

  it("doctor() finds that cells start, hold and die", async () => {
    const result = await run(["doctor", "--json"]);
    const findings = jsonOf(result) as { what: string; state: string }[];
    expect(findings.filter(({ state }) => state === "bad")).to.deep.equal([]);
    expect(result.code).to.equal(EXIT.ok);
    expect(findings.map(({ what }) => what)).to.include.members([
      "a cell starts",
      "writing",
      "processes",
      "environment",
      "an endless loop",
    ]);
  });

  it("candidates() completes commands, options and tools", async () => {
    const complete = async (...words: string[]): Promise<string[]> =>
      (await run(["complete", "--", ...words])).stdout.trimEnd().split("\n");
    expect(await complete("d")).to.deep.equal(["describe", "doctor"]);
    expect(await complete("describe", "builtin/r")).to.deep.equal(["builtin/read-file"]);
    expect(await complete("call", "--t")).to.deep.equal(["--trace", "--timeout"]);
    expect(await complete("nothing", "x")).to.deep.equal([""]);
    for (const shell of ["bash", "zsh", "fish"])
      expect((await run(["completion", shell])).stdout).to.include("toolcell complete");
  });
});
