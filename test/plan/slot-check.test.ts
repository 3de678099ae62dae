import { expect } from "chai";
import { builtins } from "../../src/index.js";
import { checkPlan } from "../../src/plan/index.js";
import { runtimesOfSuite, specOf } from "../support/runtimes.js";
import { planOf } from "./plans.js";

const READ_ONLY = { repo: { path: "." } };
const WRITABLE = { repo: { path: ".", access: "read_write" } };

/** A call of each tool that ships and writes. */
const WRITES: Record<string, object> = {
  "write-file": { path: "a", content: "b" },
  "edit-file": { path: "a", edits: [{ oldText: "a", newText: "b" }] },
  "move-file": { from: "a", to: "b" },
  "delete-file": { path: "a" },
  "make-folder": { path: "a" },
};

/** Calls of tools that ship and only read. */
const READS: [tool: string, input: object][] = [
  ["list-files", {}],
  ["read-file", { path: "a" }],
  ["search-files", { pattern: "a" }],
  ["hash-files", {}],
  ["hash-files", { paths: ["a"] }],
  ["word-frequency", { path: "a" }],
  ["query-json", { path: "a", expression: "b" }],
  ["diff-text", { left: { text: "a" }, right: { path: "b" } }],
];

/** Calls of tools that ship and touch no file. */
const PURE: [tool: string, input: object][] = [
  ["word-frequency", { text: "a" }],
  ["query-json", { value: { path: "a" }, expression: "path" }],
  ["diff-text", { left: { text: "a" }, right: { text: "b" } }],
  ["diff-text", { left: { $from: "/plan" }, right: { text: { $text: ["b"] } } }],
];

describe("plan/slot-check", () => {
  const newRuntime = runtimesOfSuite();

  const check = async (tool: string, input: object, more: object = {}, step: object = {}): Promise<string[]> => {
    const runtime = newRuntime();
    await runtime.use(builtins());
    runtime.register(
      specOf("test/optional", {
        capability: { writes: false, fs: { read: ["cache"] } },
        inputSchema: { type: "object" },
      }),
      { execute: () => 1 },
    );
    const plan = planOf({ ...more, steps: [{ id: "a", tool, input, ...step }] });
    return checkPlan(plan, runtime).map(({ line, column, message }) => `${line}:${column} ${message}`);
  };

  it("checkPlan() knows a call of every tool that ships", async () => {
    const runtime = newRuntime();
    await runtime.use(builtins());
    const known = new Set([...Object.keys(WRITES), ...[...READS, ...PURE].map(([tool]) => tool)]);
    expect(runtime.list().map(({ name }) => name.replace("builtin/", ""))).to.have.members([...known]);
  });

  it("checkPlan() places a step whose tool goes by a path where nothing is bound", async () => {
    for (const [tool, input] of [...READS, ...Object.entries(WRITES)]) {
      const [problem, ...more] = await check(`builtin/${tool}`, input);
      const access = tool in WRITES ? ", access: read_write" : "";
      expect(problem, tool).to.equal(
        `5:7 "builtin/${tool}" works in slot "repo" and the plan binds nothing there; add resources: { repo: { path: .${access} } }`,
      );
      expect(more, tool).to.deep.equal([]);
    }
  });

  it("checkPlan() wants no slot bound of a call that touches no file", async () => {
    for (const [tool, input] of PURE) expect(await check(`builtin/${tool}`, input), tool).to.deep.equal([]);
    expect(await check("test/optional", { path: "a" })).to.deep.equal([]);
  });

  it("checkPlan() is content where the slot is bound as the call needs it", async () => {
    for (const [tool, input] of READS)
      expect(await check(`builtin/${tool}`, input, { resources: READ_ONLY }), tool).to.deep.equal([]);
    for (const [tool, input] of Object.entries(WRITES))
      expect(await check(`builtin/${tool}`, input, { resources: WRITABLE }), tool).to.deep.equal([]);
  });

  it("checkPlan() places a step that writes where the slot is bound read-only", async () => {
    for (const [tool, input] of Object.entries(WRITES)) {
      const problems = await check(`builtin/${tool}`, input, { resources: READ_ONLY });
      expect(problems, tool).to.have.lengthOf(1);
      expect(problems[0], tool).to.match(
        /^\d+:7 "builtin\/.*" writes in slot "repo", which the plan binds read-only; add access: read_write to resources\/repo$/,
      );
    }
  });

  it("checkPlan() lets a rehearsal go over what is bound read-only", async () => {
    const edit = WRITES["edit-file"];
    const dryRun = async (value: unknown): Promise<number> =>
      (await check("builtin/edit-file", { ...edit, dryRun: value }, { resources: READ_ONLY })).length;
    expect(await dryRun(true)).to.equal(0);
    expect(await dryRun({ $from: "/plan" })).to.equal(0);
    expect(await dryRun(false)).to.equal(1);
  });

  it("checkPlan() says one thing of a step that writes in a read-only plan", async () => {
    expect(
      await check("builtin/delete-file", { path: "a" }, { readOnly: true, resources: READ_ONLY }),
    ).to.have.lengthOf(1);
  });

  it("checkPlan() lets a step that may fail have nothing bound", async () => {
    expect(await check("builtin/read-file", { path: "a" }, {}, { continueOnError: true })).to.deep.equal([]);
  });
});
