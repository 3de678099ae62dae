import { once } from "node:events";
import { link, mkdir, readdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { codeFiles } from "../../src/isolation/thread/code-files.js";
import { temporaryFolder } from "./fake-context.js";

/** The compiled files; a cell may read those, the packages of its tool and its resource, nothing else. */
const CODE = await realpath(join(dirname(fileURLToPath(import.meta.url)), "..", ".."));

const SCRIPT = `
const { workerData, parentPort } = require("node:worker_threads");
(async () => {
  const { fakeCall } = await import(workerData.context);
  for (const { tool, input, path } of workerData.calls) {
    const { execute } = await import(new URL(tool + ".js", workerData.tools).href);
    const { success, output, error } = await execute(input, fakeCall({ path }).context);
    parentPort.postMessage({ success, output, error });
  }
})();
`;

interface CellCall {
  tool: string;
  input: object;
  path: string;
}

interface CellAnswer {
  success: boolean;
  output?: Record<string, unknown>;
  error?: { code: string };
}

/** Runs calls in a worker that Node's permission model holds to the given paths. */
async function inCell(granted: string[], calls: CellCall[]): Promise<CellAnswer[]> {
  const { NODE_V8_COVERAGE } = process.env;
  const modules = new Set(calls.map(({ tool }) => pathToFileURL(join(CODE, "tools", `${tool}.js`)).href));
  const code = (await Promise.all([...modules].map((module) => codeFiles(module)))).flatMap((files) => [...files]);
  const readable = [...new Set([CODE, ...code])];
  const flag = process.version.startsWith("v20.") ? "--experimental-permission" : "--permission";
  const worker = new Worker(SCRIPT, {
    eval: true,
    // Coverage is asked for by the worker's own environment.
    env: NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE },
    // Node 20 warns that the permission model is experimental.
    stderr: true,
    execArgv: [
      flag,
      // Node 20 aborts where a folder and what lies in it are granted both.
      ...readable
        .filter((path) => !readable.some((other) => path.startsWith(join(other, sep))))
        .map((path) => `--allow-fs-read=${path}`),
      ...granted.flatMap((path) => [`--allow-fs-read=${path}`, `--allow-fs-write=${path}`]),
    ],
    workerData: {
      calls,
      context: new URL("./fake-context.js", import.meta.url).href,
      tools: pathToFileURL(join(CODE, "tools/")).href,
    },
  });
  const answers: CellAnswer[] = [];
  worker.on("message", (message: CellAnswer) => answers.push(message));
  await once(worker, "exit");
  return answers;
}

describe("tools in a cell", () => {
  let base: string;
  let root: string;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    ({ folder: base, remove } = await temporaryFolder());
    root = join(base, "root");
    await mkdir(join(root, "sub"), { recursive: true });
    await mkdir(join(base, "root2"));
    await writeFile(join(root, "a.txt"), "one two two");
    await writeFile(join(base, "root2", "secret.txt"), "secret");
    await symlink("../root2/secret.txt", join(root, "out"));
    await symlink("../root2/new.txt", join(root, "danglingOut"));
    await symlink("sub/new.txt", join(root, "dangling"));
    await symlink(root, join(base, "alias"));
  });

  afterEach(() => remove());

  it("execute() works under Node's permission model, with the root alone granted", async () => {
    const call = (tool: string, input: object): CellCall => ({ tool, input, path: root });
    const calls = [
      call("list-files", {}),
      call("read-file", { path: "a.txt" }),
      call("search-files", { pattern: "t.o" }),
      call("hash-files", {}),
      call("word-frequency", { path: "a.txt" }),
      call("write-file", { path: "a.txt", content: "three" }),
      call("write-file", { path: "dangling", content: "new" }),
      call("write-file", { path: "x/y/z.txt", content: "z", createFolders: true }),
      call("write-file", { path: "exclusive.txt", content: "e", overwrite: false }),
    ];
    const answers = await inCell([root], calls);
    expect(answers.map(({ success, error }) => (success ? "success" : error?.code))).to.deep.equal(
      calls.map(() => "success"),
    );
    expect(answers[0]?.output?.files).to.have.length(5);
    expect(answers[1]?.output?.content).to.equal("one two two");
    expect(answers[2]?.output?.matches).to.have.length(1);
    expect(answers[3]?.output?.files).to.have.length(1);
    expect(answers[4]?.output?.uniqueWords).to.equal(2);
    expect(await readFile(join(root, "a.txt"), "utf8")).to.equal("three");
    expect(await readFile(join(root, "sub", "new.txt"), "utf8")).to.equal("new");
    expect((await readdir(root)).filter((name) => name.startsWith(".toolcell"))).to.deep.equal([]);
  });

  it("execute() deletes what has no name in UTF-8, and renames, with the root alone granted", async function () {
    const odd = Buffer.concat([Buffer.from(join(root, "sub", "q")), Buffer.from([0xff])]);
    try {
      await mkdir(odd);
      await writeFile(Buffer.concat([odd, Buffer.from("/x")]), "");
    } catch {
      // A file system that knows no such name has nothing to test.
      return this.skip();
    }
    await link(join(root, "a.txt"), join(root, "twin"));
    const answers = await inCell(
      [root],
      [
        { tool: "list-files", input: { path: "sub" }, path: root },
        { tool: "delete-file", input: { path: "sub", recursive: true }, path: root },
        { tool: "move-file", input: { from: "a.txt", to: "twin", overwrite: true }, path: root },
      ],
    );
    expect(answers.map(({ success, error }) => (success ? "success" : error?.code))).to.deep.equal(
      answers.map(() => "success"),
    );
    expect(answers[0]?.output?.unreadable).to.deep.equal(["sub/q\ufffd"]);
    expect(answers[1]?.output?.deleted).to.equal(3);
    expect(await readdir(root)).to.have.members(["dangling", "danglingOut", "out", "twin"]);
  });

  it("execute() refuses links out of the root, which the permission model follows", async () => {
    const calls = ["out", "danglingOut", "../root2/secret.txt", "danglingOut/x"].flatMap((path) => [
      { tool: "read-file", input: { path }, path: root },
      { tool: "search-files", input: { pattern: "s", path }, path: root },
      { tool: "hash-files", input: { path }, path: root },
      { tool: "word-frequency", input: { path }, path: root },
      { tool: "write-file", input: { path, content: "x", createFolders: true }, path: root },
    ]);
    const answers = await inCell([root], calls);
    expect(answers.map(({ error }) => error?.code)).to.deep.equal(calls.map(() => "OUTSIDE_RESOURCE"));
    expect(await readdir(join(base, "root2"))).to.deep.equal(["secret.txt"]);
    expect(await readFile(join(base, "root2", "secret.txt"), "utf8")).to.equal("secret");
  });

  it("execute() answers ACCESS_DENIED where the grant does not reach", async () => {
    const answers = await inCell(
      [root],
      [
        { tool: "read-file", input: { path: "secret.txt" }, path: join(base, "root2") },
        { tool: "list-files", input: {}, path: join(base, "alias") },
        { tool: "search-files", input: { pattern: "s" }, path: join(base, "root2") },
        { tool: "hash-files", input: {}, path: join(base, "root2") },
      ],
    );
    expect(answers.map(({ error }) => error?.code)).to.deep.equal(answers.map(() => "ACCESS_DENIED"));
  });

  it("execute() reads and overwrites a single file that is granted without its folder", async () => {
    const path = join(root, "a.txt");
    const answers = await inCell(
      [path],
      [
        { tool: "read-file", input: { path: "." }, path },
        { tool: "write-file", input: { path: "a.txt", content: "new" }, path },
        { tool: "list-files", input: {}, path },
        { tool: "search-files", input: { pattern: "new" }, path },
        { tool: "hash-files", input: { paths: ["a.txt"] }, path },
      ],
    );
    expect(answers.map(({ success }) => success)).to.deep.equal(answers.map(() => true));
    expect(await readFile(path, "utf8")).to.equal("new");
  });

  it("execute() edits, moves, deletes, compares and queries with the root alone granted", async () => {
    const call = (tool: string, input: object): CellCall => ({ tool, input, path: root });
    await writeFile(join(root, "data.json"), '{"a":[1,2]}');
    const calls = [
      call("edit-file", {
        path: "a.txt",
        edits: [
          { oldText: "one", newText: "1" },
          { patch: "@@ -1 +1 @@\n-1 two two\n\\ No newline at end of file\n+1\n" },
        ],
      }),
      call("diff-text", { left: { path: "a.txt" }, right: { text: "2\n" }, by: "word" }),
      call("query-json", { path: "data.json", expression: "$sum(a)" }),
      call("query-json", { path: "data.json", expression: '$ ~> |$|{"b": 1}|' }),
      call("make-folder", { path: "x/y", createFolders: true }),
      call("move-file", { from: "a.txt", to: "x/y/a.txt" }),
      call("move-file", { from: "data.json", to: "x/y/a.txt", overwrite: true }),
      call("move-file", { from: "x", to: "z" }),
      call("delete-file", { path: "z", recursive: true }),
      call("delete-file", { path: "out" }),
    ];
    const answers = await inCell([root], calls);
    expect(answers.map(({ success, error }) => (success ? "success" : error?.code))).to.deep.equal(
      calls.map(() => "success"),
    );
    expect(answers[1]?.output?.diff).to.include("[-1-]{+2+}");
    expect([answers[2]?.output?.result, answers[3]?.output?.result]).to.deep.equal([3, { a: [1, 2], b: 1 }]);
    expect(await readdir(root)).to.have.members(["dangling", "danglingOut", "sub"]);
    expect(await readFile(join(base, "root2", "secret.txt"), "utf8")).to.equal("secret");
  });

  it("execute() changes nothing outside the root, whatever leads there", async () => {
    const calls: CellCall[] = ["out", "danglingOut", "../root2/secret.txt", "danglingOut/x"].flatMap((path) => [
      { tool: "edit-file", input: { path, edits: [{ oldText: "secret", newText: "x" }] }, path: root },
      { tool: "diff-text", input: { left: { path }, right: { text: "" } }, path: root },
      { tool: "query-json", input: { path, expression: "$" }, path: root },
      { tool: "make-folder", input: { path, createFolders: true }, path: root },
    ]);
    calls.push(
      ...["../root2/secret.txt", "danglingOut/x"].flatMap((path) => [
        { tool: "move-file", input: { from: path, to: "x" }, path: root },
        { tool: "move-file", input: { from: "a.txt", to: path, overwrite: true, createFolders: true }, path: root },
        { tool: "delete-file", input: { path, recursive: true }, path: root },
      ]),
    );
    const answers = await inCell([root], calls);
    expect(answers.map(({ error }) => error?.code)).to.deep.equal(calls.map(() => "OUTSIDE_RESOURCE"));
    expect(await readdir(join(base, "root2"))).to.deep.equal(["secret.txt"]);
    expect(await readFile(join(base, "root2", "secret.txt"), "utf8")).to.equal("secret");
  });
});
