import { readdirSync } from "node:fs";
import { expect } from "chai";
import { EXIT } from "../../src/cli/exit-codes.js";
import { FolderApprovals, type ApprovalRequest } from "../../src/index.js";
import { requestFor } from "../approvals/requests.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { command, jsonOf, type CommandOptions, type CommandRun } from "./command.js";
import { Conversation } from "./conversation.js";

const DEPLOY = `export const spec = { name: "my/deploy", version: "1.0.0", description: "For tests.", inputSchema: { type: "object" },
  capability: { writes: false, requiresApproval: true } };
export const execute = (input, { log }) => { log.info("deploying"); return "deployed"; };`;
const QUESTION = "Approve it? [y/N";

describe("approvals on the command line", () => {
  const folder = temporaryFolder();
  const run = (words: string[], options: Partial<CommandOptions> = {}): Promise<CommandRun> =>
    command(words, { cwd: folder().path, ...options });
  const talk = (words: string[], size: { columns?: number; rows?: number } = {}): Conversation =>
    new Conversation(words, { cwd: folder().path, env: { USER: "ada" }, ...size });
  const deploy = (...words: string[]): string[] => ["call", "--load", folder().write("deploy.mjs", DEPLOY), ...words];

  describe("call()", () => {
    it("denies where there is no terminal, in one line that says how else", async () => {
      for (const [words, env, why] of [
        [deploy("deploy"), {}, "there is no terminal to ask on"],
        [deploy("--approve", "none", "deploy"), {}, "nobody is to be asked"],
      ] as const) {
        const { code, stdout, stderr } = await run([...words], { env });
        expect({ code, stdout }).to.deep.equal({ code: EXIT.failed, stdout: "" });
        expect(stderr.trimEnd().split("\n")).to.have.lengthOf(1);
        expect(stderr)
          .to.match(/^APPROVAL_REQUIRED: Tool "my\/deploy"/)
          .and.include(why)
          .and.include("--approve folder:PATH");
      }
      const inCi = new Conversation(deploy("deploy"), { cwd: folder().path, env: { CI: "true" } });
      expect((await inCi.ended).stderr).to.include("there is no terminal to ask on");
    });

    it("asks on a terminal, and runs what is approved", async () => {
      for (const answer of ["y", "YES", " y \r"]) {
        const talking = talk(deploy("deploy", '{"env":"prod"}'));
        await talking.hears(QUESTION);
        for (const part of ["my/deploy 1.0.0", "plan     call", '"env": "prod"', "in 10 min"])
          expect(talking.said).to.include(part);
        talking.type(`${answer}\n`);
        const { code, stdout } = await talking.ended;
        expect({ code, stdout }, answer).to.deep.equal({ code: EXIT.ok, stdout: '"deployed"\n' });
      }
    });

    it("takes everything else for a no", async () => {
      for (const answer of ["", "n", "yy", "v", "\u001b[A"]) {
        const talking = talk(deploy("deploy"));
        await talking.hears(QUESTION);
        talking.type(`${answer}\n`);
        const { code, stdout, stderr } = await talking.ended;
        expect({ code, stdout }, answer).to.deep.equal({ code: EXIT.failed, stdout: "" });
        expect(stderr).to.include("it was declined by ada");
      }
    });

    it("takes the end of the input for a no", async () => {
      const talking = talk(deploy("deploy"));
      await talking.hears(QUESTION);
      talking.type("y");
      talking.hangUp();
      const { code, stderr } = await talking.ended;
      expect(code).to.equal(EXIT.failed);
      expect(stderr).to.include("it was declined: the input has ended");
    });

    it("takes nothing for an answer that was typed before the question", async () => {
      const talking = talk(deploy("deploy"));
      talking.type("y\ny\n");
      await talking.hears(QUESTION);
      talking.type("n\ny\n");
      expect((await talking.ended).code).to.equal(EXIT.failed);
    });

    it("writes out what a terminal would hide or obey", async () => {
      const talking = talk(deploy("deploy", '{"a\\u200b":"\\u001b[2J\\u009b2J\\u202ex\\u007f\\udb40\\udc01\\n"}'));
      await talking.hears(QUESTION);
      expect(talking.said).to.include('"a\\u200b": "\\u001b[2J\\u009b2J\\u202ex\\u007f\\udb40\\udc01\\n"');
      talking.type("\n");
      await talking.ended;
    });

    it("shows the beginning of a long input, and all of it to whoever wants to see it", async () => {
      const list = Array.from({ length: 100 }, (_none, index) => `item ${index}`);
      const talking = talk(deploy("deploy", JSON.stringify({ list, line: "x".repeat(1_000) })), {
        columns: 60,
        rows: 24,
      });
      await talking.hears(QUESTION);
      expect(talking.said)
        .to.match(/… \d+ more lines/)
        .and.not.include("item 99");
      for (const line of talking.said.split("\n")) expect(line.length).to.be.at.most(60);
      talking.type("v\n");
      await talking.hears(QUESTION, 2);
      expect(talking.said)
        .to.include("item 99")
        .and.match(/\[y\/N\] $/);
      talking.type("y\n");
      expect((await talking.ended).code).to.equal(EXIT.ok);
    });

    it("lets everything run where it is told to, and says so", async () => {
      const result = await run(deploy("--approve", "all", "deploy"));
      expect(result).to.include({ code: EXIT.ok, stdout: '"deployed"\n' });
      expect(result.stderr).to.match(/^warning: .*nobody looks at them/);
    });

    it("asks in a folder, where `approvals` answers", async () => {
      const desk = new FolderApprovals(folder().join("approvals"));
      const talking = talk(deploy("--approve", "folder:approvals", "deploy"));
      await talking.hears("waits for approval");
      const [, id = ""] = /toolcell approvals approve ([0-9a-f]{12}) --folder /.exec(talking.said) ?? [];
      const approved = await run(["approvals", "approve", id, "--folder", "approvals", "--by", "grace"]);
      expect(approved).to.include({ code: EXIT.ok, stdout: "" });
      expect(approved.stderr).to.equal(`approved ${id} (my/deploy, plan call)\n`);
      expect((await talking.ended).code).to.equal(EXIT.ok);
      expect(readdirSync(desk.folder)).to.deep.equal([]);
    });
  });

  describe("run()", () => {
    const PLAN = `plan: release
steps:
  - id: deploy
    tool: my/deploy
    forEach: { items: [1, 2, 3] }
    input: { item: { $from: /item } }
  - { id: chat, tool: my/chat }
`;
    const CHAT = `export const spec = { name: "my/chat", description: "For tests.", inputSchema: {}, capability: { writes: false } };
export const execute = (_, { log }) => { log.info("chatting"); };`;

    it("asks one after another, tells which step it is, and stays silent while a question stands", async () => {
      folder().write("plan.yaml", PLAN);
      folder().write("deploy.mjs", DEPLOY);
      folder().write("chat.mjs", CHAT);
      const talking = talk(["run", "--json", "--load", "deploy.mjs", "--load", "chat.mjs", "plan.yaml"]);
      const answers = ["y", "n", "y"];
      for (const [index, answer] of answers.entries()) {
        await talking.hears(QUESTION, index + 1);
        talking.type(`${answer}\n`);
      }
      const { code, stdout, stderr } = await talking.ended;
      expect(code).to.equal(EXIT.failed);
      expect(JSON.parse(stdout)).to.have.nested.property("steps.deploy.error.code", "APPROVAL_REQUIRED");
      for (const item of [0, 1, 2]) expect(stderr).to.include(`plan     release, step deploy, item ${item}`);
      // Between a head and its question there is nothing of others.
      for (const [, block = ""] of stderr.matchAll(/A call needs your approval([^]*?)Approve it\?/g)) {
        expect(block).not.to.match(/chatting|under way/);
      }
      expect(stderr.match(/chatting/g)).to.have.lengthOf(1);
    });
  });

  describe("mistakes", () => {
    it("runCommand() answers each with one clear line, exit code 2 and nothing on stdout", async () => {
      folder().write("deploy.mjs", DEPLOY);
      folder().mkdir("empty");
      folder().mkdir("some");
      const requests = Array.from({ length: 17 }, (_none, index) => requestFor({ callId: String(index) }));
      for (const request of requests)
        folder().write(`some/${request.approvalId}.request.json`, JSON.stringify(request));
      const firsts = requests.map(({ approvalId }) => approvalId.slice(0, 1));
      const shared = firsts.find((letter, index) => firsts.indexOf(letter) !== index)!;
      const expired = requestFor({ callId: "expired", expiresAt: "2026-01-01T00:00:00.000Z" });
      folder().write(`some/${expired.approvalId}.request.json`, JSON.stringify(expired));
      const none = "0".repeat(64);
      const cases: [string[], RegExp][] = [
        [["call", "--approve", "al", "read-file", "{}"], /--approve takes ask, none, all or folder:PATH, not "al"/],
        [["call", "--approve", "folder:", "read-file", "{}"], /not "folder:"/],
        [["call", "--approve", "ask", "read-file", "{}"], /--approve ask needs a terminal/],
        [["call", "--write", "--approve", "folder:empty", "read-file", "{}"], /slot "repo" lets them/],
        [["call", "--write", "--approve", "folder:not/there", "read-file", "{}"], /slot "repo" lets them/],
        [["approvals", "list"], /Which folder\? .*--folder PATH/],
        [["approvals"], /Which folder\?/],
        [["approvals", "list", "--folder", "none"], /There is no folder .*none/],
        [["approvals", "list", "--folder", "deploy.mjs"], /There is no folder/],
        [["approvals", "--folder", ""], /Which folder\?/],
        [["approvals", "list", "zz", "--folder", "some"], /"zz" is no id of a request/],
        [["approvals", "approve", "abc", "--folder", "empty"], /No request in .* begins with "abc"/],
        [["approvals", "approve", shared, "--folder", "some"], /may be [0-9a-f]{12}.* or [0-9a-f]{12}; name more/],
        [["approvals", "approve", none, "--folder", "some"], /No request for approval "0+" waits/],
        [["approvals", "decline", expired.approvalId, "--folder", "some"], /expired at 2026-01-01/],
        [["approvals", "approve", "../x", "--folder", "some"], /"\.\.\/x" is no id/],
        [["approvals", "approve"], /missing required argument 'id'/],
        [["approvals", "aprove", "abc", "--folder", "some"], /no "toolcell approvals aprove"; did you mean approve\?/],
      ];
      for (const [words, expected] of cases) {
        const { code, stdout, stderr } = await run(words);
        expect({ code, stdout }, words.join(" ")).to.deep.equal({ code: EXIT.usage, stdout: "" });
        expect(stderr.trimEnd().split("\n"), stderr).to.have.lengthOf(1);
        expect(stderr).to.match(expected);
      }
      expect(readdirSync(folder().join("some"))).to.have.lengthOf(18);
    });

    it("run() keeps the folder apart from what a plan lends", async () => {
      folder().write(
        "plan.yaml",
        "resources: { repo: { path: ., access: read_write } }\nsteps: [{ id: a, tool: builtin/read-file, input: { path: a } }]\n",
      );
      const result = await run(["run", "--approve", "folder:mine", "plan.yaml"]);
      expect(result).to.include({ code: EXIT.usage, stdout: "" });
      expect(result.stderr).to.include('the slot "repo" lets them');
    });
  });

  describe("config", () => {
    it("loadConfig() names who approves, by its own folder, and the policy", async () => {
      folder().write("a.txt", "hello");
      folder().write("deep/x.txt", "");
      folder().write(
        "toolcell.config.json",
        JSON.stringify({
          approve: "folder:desk",
          safetyProfile: { approve: ["builtin/read-file"], deny: ["builtin/list-files"] },
        }),
      );
      const desk = new FolderApprovals(folder().join("desk"));
      const talking = new Conversation(["call", "read-file", "--path", "a.txt"], { cwd: folder().path });
      await talking.hears("waits for approval");
      const [request] = await desk.pending();
      expect(await run(["approvals", "approve", request!.approvalId], { cwd: folder().join("deep") })).to.include({
        code: EXIT.ok,
      });
      expect(jsonOf(await talking.ended)).to.include({ content: "hello" });
      expect((await run(["call", "list-files"])).stderr).to.match(/^SAFETY_VIOLATION/);
      const declined = await run(["call", "--approve", "none", "read-file", "--path", "a.txt"]);
      expect(declined.stderr).to.match(/^APPROVAL_REQUIRED/);
    });

    it("loadConfig() says what is wrong with them", async () => {
      for (const [config, expected] of [
        [{ approve: "everybody" }, /approve must match pattern/],
        [{ safetyProfile: { denny: [] } }, /denny/],
        [{ safetyProfile: {}, runtime: { safetyProfile: {} } }, /two safety profiles/],
      ] as const) {
        folder().write("toolcell.config.json", JSON.stringify(config));
        const result = await run(["call", "read-file", "{}"]);
        expect(result).to.include({ code: EXIT.usage, stdout: "" });
        expect(result.stderr).to.match(expected);
      }
    });
  });

  describe("listApprovals() and decideApproval()", () => {
    const waiting = (change: Parameters<typeof requestFor>[0] = {}): ApprovalRequest => {
      const request = requestFor(change);
      folder().write(`desk/${request.approvalId}.request.json`, JSON.stringify(request));
      return request;
    };
    const desk = (...words: string[]): Promise<CommandRun> => run(["approvals", ...words, "--folder", "desk"]);

    it("list what waits, as a table, as JSON, and one request whole", async () => {
      folder().mkdir("desk");
      expect(await desk()).to.deep.equal({
        code: EXIT.ok,
        stdout: "",
        stderr: `Nothing waits in ${folder().join("desk")}.\n`,
      });
      const first = waiting({
        actorName: "agent\u001b[2J",
        input: { path: "x".repeat(200) },
        requestedAt: "2026-01-01T00:00:00.000Z",
      });
      const second = waiting({ callId: "second" });
      const { stdout, stderr } = await desk("list");
      expect(stderr).to.equal("");
      const lines = stdout.trimEnd().split("\n");
      expect(lines).to.have.lengthOf(4);
      expect(lines[0]).to.match(/^id +tool +plan +actor +expires in +input$/);
      expect(lines[2]).to.include(first.approvalId.slice(0, 12)).and.include("agent\\u001b[2J").and.include("…");
      expect(lines[3]).to.include(second.approvalId.slice(0, 12)).and.include('{"path":"a.txt"}');
      expect(jsonOf(await desk("--json"))).to.deep.equal([first, second]);
      const whole = await desk("list", first.approvalId.slice(0, 20));
      expect(whole.stdout.replace(/\s/g, "")).to.include("x".repeat(200));
      expect(jsonOf(await desk("list", "--json", second.approvalId))).to.deep.equal(second);
    });

    it("answer once, and say who and why", async () => {
      const one = waiting({ callId: "one" });
      const other = waiting({ callId: "other" });
      const declined = await desk(
        "decline",
        one.approvalId.slice(0, 16),
        "--by",
        "ada",
        "--reason",
        "not on a Friday",
        "--json",
      );
      expect(jsonOf(declined)).to.deep.equal({
        approvalId: one.approvalId,
        approved: false,
        decidedBy: "ada",
        reason: "not on a Friday",
      });
      const again = await desk("approve", one.approvalId);
      expect(again).to.include({ code: EXIT.usage, stdout: "" });
      expect(again.stderr).to.include("was decided already");
      expect(await desk("approve", other.approvalId.toUpperCase().slice(0, 16))).to.include({ code: EXIT.ok });
      const approvals = new FolderApprovals(folder().join("desk"));
      const { signal } = new AbortController();
      expect(await approvals.requestApproval(one, signal)).to.include({ approved: false, reason: "not on a Friday" });
      expect(await approvals.requestApproval(other, signal)).to.include({ approved: true });
    });

    it("warn of files that are not what they should be", async () => {
      folder().write(`desk/${"a".repeat(64)}.request.json`, "{");
      const { code, stdout, stderr } = await desk("list", "--json");
      expect({ code, stdout }).to.deep.equal({ code: EXIT.ok, stdout: "[]\n" });
      expect(stderr).to.match(/^warning: .*counts for nothing: it is no JSON\.\n$/);
    });

    it("candidates() completes actions, options and ids", async () => {
      const request = waiting();
      const complete = async (...words: string[]): Promise<string[]> =>
        (await run(["complete", "--", ...words])).stdout.trimEnd().split("\n");
      expect(await complete("appr")).to.deep.equal(["approvals"]);
      expect(await complete("approvals", "")).to.include.members(["list", "approve", "decline"]);
      expect(await complete("approvals", "decline", "--r")).to.deep.equal(["--reason"]);
      expect(await complete("call", "--app")).to.deep.equal(["--approve"]);
      for (const folderWords of [["--folder", "desk"], ["--folder=desk"]]) {
        expect(await complete("approvals", "approve", ...folderWords, "")).to.deep.equal([request.approvalId]);
      }
      for (const words of [
        ["approvals", "approve", ""],
        ["approvals", "approve", "--folder", ""],
        ["approvals", "approve", "--folder", "none", ""],
        ["approvals", "approve", "--folder", "desk", request.approvalId, ""],
      ]) {
        expect(await complete(...words), words.join(" ")).to.deep.equal([""]);
      }
    });
  });
});
