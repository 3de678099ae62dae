import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { EXIT } from "../../src/cli/exit-codes.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { command, jsonOf, type CommandRun } from "./command.js";

describe("cli/commands/checkpoints", () => {
  const folder = temporaryFolder();
  const run = (...words: string[]): Promise<CommandRun> => command(words, { cwd: folder().path });
  const PLAN = `
plan: notes
requireCheckpoints: true
resources: { repo: { path: ./tree, access: read_write } }
steps:
  - { id: one, tool: builtin/write-file, input: { path: a.txt, content: first } }
  - { id: two, tool: builtin/write-file, after: [one], input: { path: a.txt, content: second } }
`;

  it("run() saves what each step may write, checkpoints() lists it, restore() brings it back", async () => {
    folder().mkdir("tree");
    folder().write("plan.yaml", PLAN);
    const ran = await run("run", "--quiet", "--checkpoints", "store", "plan.yaml");
    expect([ran.code, ran.stderr]).to.deep.equal([EXIT.ok, ""]);
    const listed = jsonOf(await run("checkpoints", "--store", "store", "--json")) as { checkpointId: string }[];
    expect(listed).to.have.lengthOf(2);
    const { stdout } = await run("checkpoints", "--store", "store");
    for (const part of [listed[0]!.checkpointId, "notes", "builtin/write-file"]) expect(stdout).to.include(part);
    const restored = await run("restore", listed[1]!.checkpointId, "--store", "store");
    expect([restored.code, restored.stdout]).to.deep.equal([EXIT.ok, ""]);
    expect(readFileSync(folder().join("tree", "a.txt"), "utf8")).to.equal("first");
    await run("restore", listed[0]!.checkpointId, "--store", "store");
    expect(readdirSync(folder().join("tree"))).to.deep.equal([]);
  });

  it("run() warns where a plan requires checkpoints and no folder is given", async () => {
    folder().mkdir("tree");
    folder().write("plan.yaml", PLAN);
    const { code, stderr } = await run("run", "--quiet", "plan.yaml");
    expect(code).to.equal(EXIT.ok);
    expect(stderr.match(/requires checkpoints/g)).to.have.lengthOf(1);
  });

  it("checkpoints() and restore() tell a mistake from a store that is damaged", async () => {
    folder().mkdir("store");
    const empty = await run("checkpoints", "--store", "store");
    expect([empty.code, empty.stdout, empty.stderr]).to.deep.equal([EXIT.ok, "", "There is no checkpoint.\n"]);
    for (const words of [
      ["checkpoints", "--store", "none"],
      ["checkpoints"],
      ["restore", "x", "--store", "none"],
      ["restore", "x", "--store", "store"],
    ]) {
      const { code, stderr } = await run(...words);
      expect(code, words.join(" ")).to.equal(EXIT.usage);
      expect(stderr.trimEnd().split("\n")).to.have.lengthOf(1);
    }
    const id = "00000000000001-00000000";
    folder().write(`store/checkpoints/${id}.json`, "{}\n");
    for (const words of [["checkpoints"], ["restore", id]]) {
      const { code, stderr } = await run(...words, "--store", "store");
      expect([code, stderr.includes("damaged")], words.join(" ")).to.deep.equal([EXIT.failed, true]);
    }
  });
});
