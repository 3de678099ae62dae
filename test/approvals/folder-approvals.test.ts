import { spawn, type ChildProcess } from "node:child_process";
import { on, once } from "node:events";
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import sinon from "sinon";
import {
  FolderApprovals,
  ToolCancelledError,
  ToolHumanApprovalRequiredError,
  type ApprovalRequest,
  type FolderApprovalsOptions,
} from "../../src/index.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { deferred, rejectionOf, thrownBy } from "../support/outcomes.js";
import { contextOf, registerMock, runtimesOfSuite } from "../support/runtimes.js";
import { requestFor } from "./requests.js";

const ASKER = fileURLToPath(new URL("./asker.js", import.meta.url));
const ID = "a".repeat(64);

describe("approvals/folder-approvals", () => {
  const folder = temporaryFolder();
  const files = (): string[] => readdirSync(folder().path).sort();

  /** One process's view of the folder, and what it warns of. */
  const open = (options: FolderApprovalsOptions = {}): FolderApprovals & { readonly warnings: string[] } => {
    const warnings: string[] = [];
    const onWarning = (message: string): void => void warnings.push(message);
    return Object.assign(new FolderApprovals(folder().path, { onWarning, ...options }), { warnings });
  };

  /** Asks, and resolves when the request can be answered. */
  const ask = async (
    request: ApprovalRequest,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<{ answer: Promise<unknown>; asker: ReturnType<typeof open> }> => {
    const asked = deferred<ApprovalRequest>();
    const asker = open({ onRequest: asked.resolve });
    const answer = asker.requestApproval(request, signal);
    await Promise.race([asked.promise, answer.catch(() => undefined)]);
    // A rejection is looked at later.
    answer.catch(() => undefined);
    return { answer, asker };
  };
  /** A request whose asker has died, with its files as they were. */
  const abandoned = (request: ApprovalRequest): void => {
    folder().write(`${request.approvalId}.request.json`, JSON.stringify(request));
  };
  const decisionFile = (request: ApprovalRequest, change: object = {}): string => {
    const { approvalId, expiresAt } = request;
    return folder().write(
      `${approvalId}.decision.json`,
      JSON.stringify({ approvalId, approved: true, expiresAt, ...change }),
    );
  };

  describe("requestApproval()", () => {
    it("is listed and answered through another instance, and leaves nothing behind", async () => {
      const request = requestFor({ actorName: "agent", toolVersion: "1.0.0", parentCallId: "parent" });
      const { answer, asker } = await ask(request);
      const desk = open();
      expect(await desk.pending()).to.deep.equal([request]);
      await desk.decide(request.approvalId, { approved: true, decidedBy: "ada", reason: "fine" });
      expect(await answer).to.deep.equal({
        approvalId: request.approvalId,
        approved: true,
        decidedBy: "ada",
        reason: "fine",
      });
      expect(files()).to.deep.equal([]);
      expect([...asker.warnings, ...desk.warnings]).to.deep.equal([]);
    });

    it("writes plain JSON that its owner alone can read, in a folder of the owner's", async function () {
      if (process.platform === "win32") this.skip(); // It has no such modes.
      const request = requestFor();
      const nested = new FolderApprovals(folder().join("not/there"));
      const controller = new AbortController();
      const asked = deferred<ApprovalRequest>();
      const answer = new FolderApprovals(nested.folder, { onRequest: asked.resolve }).requestApproval(
        request,
        controller.signal,
      );
      await asked.promise;
      const path = folder().join(`not/there/${request.approvalId}.request.json`);
      expect(JSON.parse(readFileSync(path, "utf8"))).to.deep.equal(request);
      expect(statSync(path).mode & 0o777).to.equal(0o600);
      expect(statSync(nested.folder).mode & 0o777).to.equal(0o700);
      controller.abort();
      await rejectionOf(answer);
    });

    it("removes its files when nobody waits any more", async () => {
      const controller = new AbortController();
      const request = requestFor();
      const { answer } = await ask(request, controller.signal);
      controller.abort();
      expect(files()).to.deep.equal([]);
      expect(await rejectionOf(answer)).to.be.an("error");
      expect(await rejectionOf(open().decide(request.approvalId, { approved: true })))
        .to.have.property("message")
        .that.includes("No request");
      expect(await rejectionOf(open().requestApproval(request, AbortSignal.abort()))).to.be.an("error");
      expect(files()).to.deep.equal([]);
    });

    it("waits for many at a time, answered in any order", async () => {
      const asker = open();
      const requests = Array.from({ length: 50 }, (_none, input) => requestFor({ callId: `call-${input}`, input }));
      let count = 0;
      const all = deferred();
      const waiting = open({
        onRequest: () => {
          if (++count === requests.length) all.resolve();
        },
      });
      const answers = requests.map((request) => waiting.requestApproval(request, new AbortController().signal));
      await all.promise;
      const pending = await asker.pending();
      expect(pending.map(({ callId }) => callId)).to.have.members(requests.map(({ callId }) => callId));
      await Promise.all(
        pending
          .reverse()
          .map(({ approvalId, input }) => asker.decide(approvalId, { approved: Number(input) % 2 === 0 })),
      );
      expect((await Promise.all(answers)).map(({ approved }) => approved)).to.deep.equal(
        requests.map(({ input }) => Number(input) % 2 === 0),
      );
      expect(files()).to.deep.equal([]);
    });

    it("leaves no timer behind", async () => {
      const clock = sinon.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      try {
        const { answer } = await ask(requestFor());
        expect(clock.countTimers()).to.equal(1);
        await open().decide(requestFor().approvalId, { approved: true });
        expect(await answer).to.have.property("approved", true);
        expect(clock.countTimers()).to.equal(0);
      } finally {
        clock.restore();
      }
    });

    it("uses an answer that came after its asker had died, once", async () => {
      const request = requestFor();
      abandoned(request);
      await open().decide(request.approvalId, { approved: true, decidedBy: "ada" });
      const anew = requestFor({ requestedAt: new Date(Date.now() + 1).toISOString() });
      const onRequest = sinon.spy();
      const asker = open({ onRequest });
      expect(await asker.requestApproval(anew, new AbortController().signal)).to.deep.equal({
        approvalId: request.approvalId,
        approved: true,
        decidedBy: "ada",
      });
      expect(onRequest.called).to.equal(false);
      expect(files()).to.deep.equal([]);
      const controller = new AbortController();
      const { answer } = await ask(anew, controller.signal);
      expect(await open().pending()).to.deep.equal([anew]);
      controller.abort();
      await rejectionOf(answer);
    });

    it("of two askers for the same call, one gets the answer", async () => {
      const request = requestFor();
      const one = await ask(request);
      expect(await rejectionOf(one.asker.requestApproval(request, new AbortController().signal)))
        .to.have.property("message")
        .that.includes("waiting already");
      const other = await ask(request);
      await open().decide(request.approvalId, { approved: true });
      const ends = await Promise.allSettled([one.answer, other.answer]);
      expect(ends.map(({ status }) => status)).to.have.members(["fulfilled", "rejected"]);
      expect(files()).to.deep.equal([]);
    });

    it("never uses an answer to a request that has expired, nor one that nobody asked for", async () => {
      const past = { requestedAt: "2026-01-01T00:00:00.000Z", expiresAt: "2026-01-01T00:10:00.000Z" };
      const cases = [
        () => {
          abandoned(requestFor(past));
          decisionFile(requestFor(past));
        },
        () => decisionFile(requestFor()),
        () => {
          abandoned({ ...requestFor(), input: { path: "other.txt" } });
          decisionFile(requestFor());
        },
      ];
      for (const prepare of cases) {
        prepare();
        const controller = new AbortController();
        const request = requestFor();
        const { answer } = await ask(request, controller.signal);
        expect(files()).to.deep.equal([`${request.approvalId}.request.json`]);
        controller.abort();
        await rejectionOf(answer);
      }
    });

    it("takes a decision for a no that is not one on this very request", async () => {
      const other = requestFor({ callId: "other" });
      const cases: Readonly<Record<string, (request: ApprovalRequest) => void>> = {
        "it is no JSON": ({ approvalId }) => folder().write(`${approvalId}.decision.json`, '{"approved": tru'),
        "it is no object": ({ approvalId }) => folder().write(`${approvalId}.decision.json`, "[true]"),
        "it is on another request": (request) => decisionFile(request, { approvalId: other.approvalId }),
        "neither true nor false": (request) => decisionFile(request, { approved: "yes" }),
        "`decidedBy` is no text": (request) => decisionFile(request, { decidedBy: 1 }),
        "`expiresAt` is missing": (request) => decisionFile(request, { expiresAt: undefined }),
        "it is on a request that has expired": (request) =>
          decisionFile(request, { expiresAt: "2026-01-01T00:00:00.000Z" }),
        "it is no file": ({ approvalId }) => folder().mkdir(`${approvalId}.decision.json`),
        "what it says is not what its id was made of": (request) => {
          folder().write(
            `${request.approvalId}.request.json`,
            JSON.stringify({ ...request, input: { path: "harmless.txt" } }),
          );
          decisionFile(request);
        },
        "its request has expired": (request) => {
          folder().write(
            `${request.approvalId}.request.json`,
            JSON.stringify({ ...request, expiresAt: "2026-01-01T00:00:00.000Z" }),
          );
          decisionFile(request);
        },
      };
      for (const [why, decide] of Object.entries(cases)) {
        const request = requestFor();
        const { answer, asker } = await ask(request);
        decide(request);
        expect(await rejectionOf(answer), why)
          .to.have.property("message")
          .that.includes(why);
        expect(asker.warnings.join("\n"), why).to.include(why);
        expect(files(), why).to.deep.equal([]);
      }
    });

    it("follows no link", async function () {
      if (process.platform === "win32") this.skip(); // To make a link there takes a right of its own.
      const request = requestFor();
      const elsewhere = folder().write("elsewhere", JSON.stringify({ ...request, approved: true }));
      const { answer } = await ask(request);
      symlinkSync(elsewhere, folder().join(`${request.approvalId}.decision.json`));
      expect(await rejectionOf(answer))
        .to.have.property("message")
        .that.includes("it is a link");
      expect(files()).to.deep.equal(["elsewhere"]);
    });

    it("ends where somebody removes the request", async () => {
      const request = requestFor();
      const { answer } = await ask(request);
      folder().remove();
      expect(await rejectionOf(answer))
        .to.have.property("message")
        .that.includes("was removed");
    });

    it("sweeps what nobody waits for, and nothing else", async () => {
      const past = { requestedAt: "2026-01-01T00:00:00.000Z", expiresAt: "2026-01-01T00:10:00.000Z" };
      const stale = requestFor({ ...past, callId: "stale" });
      const live = requestFor({ callId: "live" });
      abandoned(stale);
      abandoned(live);
      decisionFile(live);
      decisionFile(stale);
      folder().write(`${ID}.${"b".repeat(16)}.taken`, "");
      folder().write(`${ID}.decision.json`, "{}");
      folder().write("notes.txt", "");
      const kept = [`${live.approvalId}.decision.json`, `${live.approvalId}.request.json`, "notes.txt"];
      for (const [minutes, more] of [
        [0, [`${ID}.${"b".repeat(16)}.taken`, `${ID}.decision.json`]],
        [30, []],
      ] as const) {
        const clock = sinon.useFakeTimers({ now: Date.now() + minutes * 60_000, toFake: ["Date"] });
        await rejectionOf(open().requestApproval(requestFor(), AbortSignal.abort()));
        clock.restore();
        expect(files()).to.deep.equal([...kept, ...more].sort());
      }
    });

    it("warns where everybody may write to the folder", async function () {
      if (process.platform === "win32") this.skip(); // It has no such modes.
      chmodSync(folder().path, 0o777);
      const desk = open();
      for (const callId of ["one", "two"]) {
        await rejectionOf(desk.requestApproval(requestFor({ callId }), AbortSignal.abort()));
      }
      expect(desk.warnings).to.have.lengthOf(1).and.have.property("0").that.includes("Everybody");
    });

    it("rejects an id that is none, and a folder that cannot be made", async () => {
      const { signal } = new AbortController();
      const request = { ...requestFor(), approvalId: "../../etc/passwd" };
      expect(await rejectionOf(open().requestApproval(request, signal))).to.be.an("error");
      const file = folder().write("file", "");
      expect(await rejectionOf(new FolderApprovals(file).requestApproval(requestFor(), signal))).to.be.an("error");
    });
  });

  describe("decide()", () => {
    it("refuses what waits no more, or never did, and what is no verdict", async () => {
      const request = requestFor();
      const expired = requestFor({ callId: "expired", expiresAt: "2026-01-01T00:10:00.000Z" });
      const tampered = requestFor({ callId: "tampered" });
      abandoned(request);
      abandoned(expired);
      abandoned({ ...tampered, toolName: "acme/harmless" });
      const desk = open();
      const cases: readonly (readonly [string, unknown, string])[] = [
        ["", { approved: true }, "is no approval's id"],
        ["../request", { approved: true }, "is no approval's id"],
        [ID.toUpperCase(), { approved: true }, "is no approval's id"],
        [ID, { approved: true }, "No request for approval"],
        [expired.approvalId, { approved: true }, "expired at 2026-01-01"],
        [tampered.approvalId, { approved: true }, "not what its id was made of"],
        [request.approvalId, { approved: "yes" }, "A verdict is"],
        [request.approvalId, { approved: true, decidedBy: 1 }, "A verdict is"],
      ];
      for (const [id, verdict, message] of cases) {
        const error = await rejectionOf(desk.decide(id, verdict as never));
        expect(error, message).to.have.property("code", "INVALID_ARGUMENT");
        expect(error).to.have.property("message").that.includes(message);
      }
      expect(files()).to.have.lengthOf(3);
    });

    it("of many at one time counts the first", async () => {
      const request = requestFor();
      abandoned(request);
      const ends = await Promise.allSettled(
        Array.from({ length: 20 }, (_none, index) =>
          open().decide(request.approvalId, { approved: true, decidedBy: String(index) }),
        ),
      );
      expect(ends.filter(({ status }) => status === "fulfilled")).to.have.lengthOf(1);
      for (const end of ends) {
        if (end.status === "rejected") expect(end.reason).to.have.property("message").that.includes("decided already");
      }
      const { decidedBy } = await open().requestApproval(request, new AbortController().signal);
      expect(decidedBy).to.equal(String(ends.findIndex(({ status }) => status === "fulfilled")));
    });
  });

  describe("pending()", () => {
    it("lists what waits, oldest first, and passes over the rest", async () => {
      const older = requestFor({ callId: "older", requestedAt: "2026-01-01T00:00:00.000Z" });
      const newer = requestFor({ callId: "newer" });
      const answered = requestFor({ callId: "answered" });
      abandoned(newer);
      abandoned(older);
      abandoned(answered);
      decisionFile(answered);
      abandoned(requestFor({ callId: "expired", expiresAt: "2026-01-01T00:10:00.000Z" }));
      folder().write("notes.txt", "");
      folder().write(`${ID}.txt`, "");
      const desk = open();
      expect(await desk.pending()).to.deep.equal([older, newer]);
      expect(desk.warnings).to.deep.equal([]);
    });

    it("warns of files that are not what they should be", async () => {
      const request = requestFor();
      const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
      const wrong: readonly (readonly [string, string])[] = [
        ["", "it is no JSON"],
        ["null", "it is no object"],
        ["{}", "`planId` is missing"],
        [JSON.stringify({ ...request, expiresAt: "soon" }), "`expiresAt` is missing or wrong"],
        [JSON.stringify({ ...request, actorName: 1 }), "`actorName` is missing or wrong"],
        [JSON.stringify(request), "not what its id was made of"],
        [JSON.stringify({ ...request, approvalId: ID }), "not what its id was made of"],
        [JSON.stringify(request).replace('{"path":"a.txt"}', deep), "counts for nothing"],
      ];
      for (const [text, message] of wrong) {
        folder().write(`${ID}.request.json`, text);
        const desk = open();
        expect(await desk.pending(), message).to.deep.equal([]);
        expect(desk.warnings, message).to.have.lengthOf(1);
        expect(desk.warnings[0]).to.include(message).and.include(ID);
      }
    });

    it("finds nothing where there is no folder, and rejects where it cannot be read", async () => {
      expect(await new FolderApprovals(folder().join("none")).pending()).to.deep.equal([]);
      expect(await rejectionOf(new FolderApprovals(folder().write("file", "")).pending())).to.be.an("error");
    });
  });

  it("FolderApprovals() refuses options that are wrong", () => {
    const cases: readonly (readonly [unknown, unknown])[] = [
      ["", {}],
      [undefined, {}],
      ["folder", null],
      ["folder", { pollMs: 0 }],
      ["folder", { pollMs: 1.5 }],
      ["folder", { onRequest: true }],
      ["folder", { pollMS: 1 }],
    ];
    for (const [path, options] of cases) {
      expect(thrownBy(() => new FolderApprovals(path as never, options as never))).to.have.property(
        "code",
        "INVALID_OPTIONS",
      );
    }
  });

  describe("in a runtime", () => {
    const makeRuntime = runtimesOfSuite();
    const capability = { writes: false, requiresApproval: true } as const;

    it("a call waits for the folder's answer; a cancel, and an expiry, take the request away", async () => {
      const asked: ((request: ApprovalRequest) => void)[] = [];
      const next = (): Promise<ApprovalRequest> => new Promise((resolve) => asked.push(resolve));
      const approvals = open({ onRequest: (request) => asked.shift()?.(request) });
      const runtime = makeRuntime({ approvals });
      const { execute } = registerMock(runtime, "acme/tool", { execute: (input) => input }, capability);
      const context = contextOf("plan");
      let request = next();
      const call = runtime.execute("acme/tool", { path: "a.txt" }, context);
      await open().decide((await request).approvalId, { approved: true });
      expect((await call).output).to.deep.equal({ path: "a.txt" });

      request = next();
      const controller = new AbortController();
      const cancelled = rejectionOf(runtime.execute("acme/tool", {}, context, { signal: controller.signal }));
      await request;
      controller.abort();
      expect(await cancelled).to.be.instanceOf(ToolCancelledError);
      expect(files()).to.deep.equal([]);

      const hasty = makeRuntime({ approvals: open(), approvalTimeoutMs: 1 });
      registerMock(hasty, "acme/tool", {}, capability);
      expect(await rejectionOf(hasty.execute("acme/tool", {}, contextOf("hasty")))).to.be.instanceOf(
        ToolHumanApprovalRequiredError,
      );
      expect(execute.callCount).to.equal(1);
    });
  });

  describe("with another process", () => {
    let child: ChildProcess | undefined;

    afterEach(() => {
      child?.kill("SIGKILL");
    });

    /** Starts an asker. */
    const start = (): { process: ChildProcess; lines: Interface } => {
      child = spawn(process.execPath, [ASKER, folder().path], { stdio: ["ignore", "pipe", "inherit"] });
      return { process: child, lines: createInterface({ input: child.stdout! }) };
    };

    it("the answer to an asker that was killed is used by the next one that makes the call, once", async () => {
      const first = start();
      const [approvalId] = (await once(first.lines, "line")) as [string];
      const died = once(first.process, "exit");
      first.process.kill("SIGKILL");
      await died;
      const desk = open();
      expect((await desk.pending()).map((request) => request.approvalId)).to.deep.equal([approvalId]);
      await desk.decide(approvalId, { approved: true });

      const second = start();
      expect(await once(second.lines, "line")).to.deep.equal(["42"]);
      await once(second.process, "exit");
      expect(files()).to.deep.equal([]);

      const third = start();
      const lines = on(third.lines, "line") as AsyncIterableIterator<[string]>;
      expect((await lines.next()).value).to.deep.equal([approvalId]);
      const exited = once(third.process, "exit");
      await desk.decide(approvalId, { approved: true });
      expect((await lines.next()).value).to.deep.equal(["42"]);
      expect(await exited).to.deep.equal([0, null]);
    });
  });
});
