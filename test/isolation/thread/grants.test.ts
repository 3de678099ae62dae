import { existsSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { dirname, join, relative } from "node:path";
import { expect } from "chai";
import type { Enforcement } from "../../../src/index.js";
import { nodeFacts } from "../../../src/isolation/thread/node-facts.js";
import { temporaryFolder } from "../../fixtures/folder.js";
import { runHost, type HostRun } from "../../fixtures/hosts/run-host.js";
import { rejection } from "../../contract/recorder.js";
import { attempt, ThreadBed } from "./thread-bed.js";

const facts = nodeFacts();
const REPO = { slotName: "repo", resourceId: "repo", resourceType: "folder" } as const;

describe("thread tier grants", () => {
  const bed = new ThreadBed();
  const folder = temporaryFolder();

  const read = (path: string): string =>
    attempt(`return require("node:fs").readFileSync(${JSON.stringify(path)}, "utf8")`);
  const write = (path: string): string =>
    attempt(`require("node:fs").writeFileSync(${JSON.stringify(path)}, "written")`);

  describe("files", () => {
    it("a bound resource is what may be read, and nothing beside it", async () => {
      folder().write("repo/a.txt", "a");
      folder().write("repo2/b.txt", "b");
      const secret = folder().write("secret.txt", "secret");
      folder().link("repo/out", secret);
      await bed.tool("script", { capability: { fs: { read: ["repo"] } } });
      const plan = bed.plan({ boundResources: [{ ...REPO, path: folder().join("repo") }] });
      expect(await bed.script(plan, read(folder().join("repo/a.txt")))).to.deep.equal({ reached: "a" });
      for (const path of [
        secret,
        folder().join("repo2/b.txt"),
        `${folder().path}/repo/../secret.txt`,
        folder().path,
        "/etc/passwd",
        "/proc/self/environ",
        relative(process.cwd(), secret),
      ]) {
        expect(await bed.script(plan, read(path)), path).to.include({ refused: "ERR_ACCESS_DENIED" });
      }
    });

    const waysToRead = {
      "fs.promises": `return (await require("node:fs/promises").readFile(input, "utf8"))`,
      "a stream": `let text = ""; for await (const chunk of require("node:fs").createReadStream(input, "utf8")) text += chunk; return text;`,
      "a file URL": `return require("node:fs").readFileSync(require("node:url").pathToFileURL(input), "utf8")`,
      "a Buffer path": `return require("node:fs").readFileSync(Buffer.from(input), "utf8")`,
      "a copy": `require("node:fs").copyFileSync(input, input + ".copy"); return "copied"`,
      "a link": `require("node:fs").linkSync(input, input + ".link"); return "linked"`,
      "a symbolic link": `require("node:fs").symlinkSync(input, input + ".symlink"); return "linked"`,
      "a rename": `require("node:fs").renameSync(input, input + ".moved"); return "moved"`,
      "opening a blob": `return (await (await require("node:fs").openAsBlob(input)).text())`,
      "an import as text": `return (await import(require("node:url").pathToFileURL(input).href))`,
      "a require": `return require(input)`,
      "a subclassed buffer": `class Path extends Uint8Array {}; return require("node:fs").readFileSync(Path.from(Buffer.from(input)), "utf8")`,
      watching: `require("node:fs").watch(input).close(); return "watched"`,
      "the state": `return require("node:fs").statSync(input).size`,
      "a database": `const database = new (require("node:sqlite").DatabaseSync)(input, { readOnly: true }); return typeof database`,
    };
    for (const [way, code] of Object.entries(waysToRead)) {
      it(`what is not granted cannot be reached through ${way}`, async () => {
        const secret = folder().write("secret.js", "module.exports = 'secret'");
        await bed.tools("script");
        const result = await bed.script(bed.plan(), attempt(code), secret);
        expect(result).to.have.property("refused");
        expect(readFileSync(secret, "utf8")).to.contain("secret");
      });
    }

    const waysToWrite = {
      "fs.writeFileSync": `require("node:fs").writeFileSync(input, "x")`,
      "fs.promises": `await require("node:fs/promises").writeFile(input, "x")`,
      "a stream": `const stream = require("node:fs").createWriteStream(input); stream.end("x"); await require("node:stream/promises").finished(stream)`,
      "opening it": `require("node:fs").openSync(input, "a")`,
      "a folder": `require("node:fs").mkdirSync(input)`,
      "a temporary folder": `return require("node:fs").mkdtempSync(input)`,
      "a report": `process.report.writeReport(input)`,
      "a heap snapshot": `require("node:v8").writeHeapSnapshot(input)`,
      "a database": `new (require("node:sqlite").DatabaseSync)(input).exec("create table t (x)")`,
      "the compile cache": `const { status } = require("node:module").enableCompileCache(input); if (status !== 1) throw new Error("status " + status)`,
    };
    for (const [way, code] of Object.entries(waysToWrite)) {
      it(`nothing is written through ${way}, though the folder may be read`, async () => {
        await bed.tool("script", { capability: { fs: { read: ["repo"] } } });
        const plan = bed.plan({ boundResources: [{ ...REPO, path: folder().mkdir("repo"), access: "read_write" }] });
        const result = await bed.script(plan, attempt(code), folder().join("repo", "new"));
        expect(result, JSON.stringify(result)).to.have.property("refused");
        expect(existsSync(folder().join("repo", "new"))).to.equal(false);
        expect(existsSync(folder().join("new"))).to.equal(false);
      });
    }

    it("a slot under fs.write is written, in a plan that may write", async () => {
      folder().write("repo/a.txt", "a");
      await bed.tool("script", { capability: { writes: true, fs: { write: ["repo"] } } });
      const plan = bed.plan({ boundResources: [{ ...REPO, path: folder().join("repo"), access: "read_write" }] });
      expect(await bed.script(plan, read(folder().join("repo/a.txt")))).to.deep.equal({ reached: "a" });
      expect(await bed.script(plan, write(folder().join("repo/b.txt")))).to.deep.equal({ reached: null });
      expect(await bed.script(plan, write(folder().join("c.txt")))).to.include({ refused: "ERR_ACCESS_DENIED" });
      expect(await bed.script(plan, `return context.resource("repo").access`)).to.equal("read_write");
    });

    it("a slot that is bound read_only is not written, whatever the capability says", async () => {
      folder().write("repo/a.txt", "a");
      await bed.tool("script", { capability: { writes: true, fs: { read: ["repo"], write: ["repo"] } } });
      const plan = bed.plan({ boundResources: [{ ...REPO, path: folder().join("repo") }] });
      expect(await bed.script(plan, write(folder().join("repo/b.txt")))).to.include({ refused: "ERR_ACCESS_DENIED" });
      expect(await bed.script(plan, `return context.resource("repo").access`)).to.equal("read_only");
      expect(await bed.script(plan, read(folder().join("repo/a.txt")))).to.deep.equal({ reached: "a" });
    });

    it("a read-only plan's cells write nothing, whatever the tool says of itself", async () => {
      folder().mkdir("repo");
      await bed.tool("script", { capability: { writes: false, fs: { write: ["repo"] } } });
      const bound = [{ ...REPO, path: folder().join("repo"), access: "read_write" as const }];
      const plan = bed.plan({ readOnly: true, boundResources: bound });
      expect(await bed.script(plan, write(folder().join("repo/b.txt")))).to.include({ refused: "ERR_ACCESS_DENIED" });
      const descriptor = await plan.discover("fixture/script");
      expect(descriptor.readOnly).to.deep.equal({ trusted: true, enforced: true });
      const open = bed.plan({ boundResources: bound });
      expect((await open.discover("fixture/script")).readOnly.enforced).to.equal(false);
    });

    it("a tool that may start programs is held to nothing by its cell, and the descriptor says so", async () => {
      folder().write("secret.txt", "secret");
      await bed.tool("script", { capability: { writes: false, spawn: true } });
      const plan = bed.plan({ readOnly: true });
      const target = folder().join("written.txt");
      const started = `require("node:child_process").execFileSync("sh", ["-c", 'cat "$1" > "$2"', "sh", ...input])`;
      await bed.script(plan, started, [folder().join("secret.txt"), target]);
      expect(readFileSync(target, "utf8")).to.equal("secret");
      const { readOnly, enforcement } = await plan.discover("fixture/script");
      expect(readOnly.enforced).to.equal(false);
      const held = enforcement.filter(({ holds }) => holds).map(({ subject }) => subject);
      expect(held).to.deep.equal(["spawn", "env"]);
    });

    it("a link is granted by what it leads to, and what lies beside that stays closed", async () => {
      folder().write("real/a.txt", "a");
      folder().write("secret.txt", "secret");
      const link = folder().link("link", folder().join("real"));
      await bed.tool("script", { capability: { fs: { read: ["repo"] } } });
      const plan = bed.plan({ boundResources: [{ ...REPO, path: link }] });
      const path = await bed.script(plan, `return context.resource("repo").path`);
      expect(path).to.equal(folder().join("real"));
      expect(await bed.script(plan, read(join(path, "a.txt")))).to.deep.equal({ reached: "a" });
      expect(await bed.script(plan, read(join(path, "../secret.txt")))).to.include({ refused: "ERR_ACCESS_DENIED" });
    });

    it("a folder whose name is a beginning of another's does not grant the other", async () => {
      folder().write("work/a.txt", "a");
      folder().write("work2/b.txt", "b");
      folder().write("work.txt", "c");
      await bed.tool("script", { capability: { fs: { read: ["repo"] } } });
      const plan = bed.plan({ boundResources: [{ ...REPO, path: folder().join("work") }] });
      for (const name of ["work2/b.txt", "work.txt"]) {
        expect(await bed.script(plan, read(folder().join(name))), name).to.include({ refused: "ERR_ACCESS_DENIED" });
      }
    });

    it("odd names of folders are granted as they are", async () => {
      for (const name of ["with space", "ünïcödé 文件", "100% of, it", "#hash?", "a=b;c"]) {
        const path = dirname(folder().write(`${name}/a.txt`, name));
        await bed.tool("script", {
          spec: { name: `odd/${Buffer.from(name).toString("hex")}` },
          capability: { fs: { read: ["repo"] } },
        });
        const plan = bed.plan({ boundResources: [{ ...REPO, path }] });
        const code = read(join(path, "a.txt"));
        const { output } = await plan.execute(`odd/${Buffer.from(name).toString("hex")}`, { code });
        expect(output).to.deep.equal({ reached: name });
      }
    });

    it("a path that the permission flags would read as a pattern is refused by name", async () => {
      const path = folder().mkdir("all*");
      await bed.tool("script", { capability: { fs: { read: ["repo"] } } });
      const plan = bed.plan({ boundResources: [{ ...REPO, path }] });
      const error = await rejection(plan.execute("fixture/script", { code: "" }));
      expect(error).to.include({ code: "ACTIVATION_FAILED" });
      expect(error.message).to.contain("all*").and.contain("wildcard");
    });

    it("a folder and what lies in it may be granted together", async () => {
      folder().write("repo/sub/a.txt", "a");
      await bed.tool("script", { capability: { fs: { read: ["repo"], write: ["sub"] } } });
      const plan = bed.plan({
        boundResources: [
          { ...REPO, path: folder().join("repo") },
          { ...REPO, slotName: "sub", path: folder().join("repo/sub"), access: "read_write" },
        ],
      });
      expect(await bed.script(plan, write(folder().join("repo/sub/b.txt")))).to.deep.equal({ reached: null });
      expect(await bed.script(plan, write(folder().join("repo/b.txt")))).to.include({ refused: "ERR_ACCESS_DENIED" });
      expect(await bed.script(plan, read(folder().join("repo/sub/a.txt")))).to.deep.equal({ reached: "a" });
    });

    it("two plans hold one tool to two grants, also one after the other", async () => {
      folder().write("one/a.txt", "one");
      folder().write("two/a.txt", "two");
      await bed.tool("script", { capability: { stateless: true, fs: { read: ["repo"], write: ["repo"] } } });
      const codes = ["one", "two"].map((name) => read(folder().join(name, "a.txt")));
      for (let round = 0; round < 2; round++) {
        const plans = ["one", "two"].map((name) =>
          bed.plan({ boundResources: [{ ...REPO, path: folder().join(name) }] }),
        );
        const reached = await Promise.all(
          plans.map((plan) => Promise.all(codes.map(async (code) => (await bed.script(plan, code)).reached))),
        );
        expect(reached).to.deep.equal([
          ["one", undefined],
          [undefined, "two"],
        ]);
        await Promise.all(plans.map((plan) => plan.deactivate()));
      }
    });

    it("a tool's own code may be read, the folder it lies in may not", async () => {
      folder().write("beside.mjs", "");
      const path = folder().write(
        "tool.mjs",
        `import { readdirSync, readFileSync } from "node:fs"; import { fileURLToPath } from "node:url";
         const attempt = (run) => { try { return run().length > 0; } catch (error) { return error.code; } };
         const at = (name) => fileURLToPath(new URL(name, import.meta.url));
         export const execute = () => [
           attempt(() => readFileSync(at("./tool.mjs"), "utf8")),
           attempt(() => readFileSync(at("./beside.mjs"), "utf8")),
           attempt(() => readdirSync(at("."))),
         ];`,
      );
      bed.module(path);
      const { output } = await bed.plan().execute("made/tool", {});
      expect(output).to.deep.equal([true, "ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED"]);
    });

    it("a resource inside the host's current directory may be read, and what lies beside it stays closed", async () => {
      const request = {
        scripts: [
          read(folder().join("repo/a.txt")),
          read(folder().join("secret.txt")),
          write(folder().join("repo/b.txt")),
        ],
        resources: { repo: folder().join("repo") },
        capability: { fs: { read: ["repo"] } },
      };
      folder().write("repo/a.txt", "a");
      folder().write("secret.txt", "secret");
      const { report } = await runHost(request, { cwd: folder().path });
      const [granted, beside, written] = report.results;
      expect(granted?.output).to.deep.equal({ reached: "a" });
      const { holds } = report.enforcement.find(({ subject }) => subject === "host.cwd") as Enforcement;
      expect(beside?.output).to.have.property(holds ? "refused" : "reached");
      expect(written?.output).to.include({ refused: "ERR_ACCESS_DENIED" });
    });

    it("a secret in the host's current directory is safe exactly where the descriptor says so", async () => {
      folder().write(".env", "SECRET=1");
      folder().write("sub/.env", "SECRET=2");
      const { report, exit } = await runHost(
        { scripts: [".env", "sub/.env", folder().join(".env"), `${folder().path}/sub/../.env`].map(read) },
        { cwd: folder().path },
      );
      expect(exit).to.equal(0);
      const { holds } = report.enforcement.find(({ subject }) => subject === "host.cwd") as Enforcement;
      expect(holds).to.equal(!facts.grantsCurrentDirectory || facts.canDropCurrentDirectory);
      for (const { output } of report.results) {
        expect(output).to.have.property(holds ? "refused" : "reached");
      }
    });
  });

  describe("processes", () => {
    const attempts = {
      "child_process.spawn": `require("node:child_process").spawn("true")`,
      "child_process.execSync": `return require("node:child_process").execSync("id").toString()`,
      "child_process.fork": `require("node:child_process").fork("x.js")`,
      "an imported child_process": `(await import("node:child_process")).execFileSync("true")`,
      "a worker": `new (require("node:worker_threads").Worker)("1", { eval: true })`,
      "a cluster": `require("node:cluster").fork()`,
      "process.dlopen": `process.dlopen({ exports: {} }, "addon.node")`,
      "a required addon": `require("./addon.node")`,
      "v8.setFlagsFromString": `require("node:v8").setFlagsFromString("--no-trace-opt")`,
      "v8.setFlagsFromString, imported": `(await import("node:v8")).setFlagsFromString("--no-trace-opt")`,
      "process.binding": `return process.binding("spawn_sync")`,
      "process._linkedBinding": `return process._linkedBinding("spawn_sync")`,
      "an inspector session": `const session = new (require("node:inspector").Session)(); session.connect(); return "connected"`,
      "an open inspector": `require("node:inspector").open(0)`,
      "a WASI": `new (require("node:wasi").WASI)({ version: "preview1", preopens: { "/": "/" } }); return "made"`,
      "process.execve": `process.execve("/bin/true", [])`,
    };
    for (const [what, code] of Object.entries(attempts)) {
      it(`${what} is refused`, async () => {
        await bed.tools("script");
        const result = await bed.script(bed.plan(), attempt(code));
        expect(result, JSON.stringify(result)).to.have.property("refused");
      });
    }

    it("a refusal says what would grant it, where something would", async () => {
      await bed.tools("script");
      const plan = bed.plan();
      const refusal = async (code: string): Promise<string> =>
        ((await rejection(plan.execute("fixture/script", { code }))) as Error).message;
      expect(await refusal(`require("node:child_process").spawn("true")`)).to.include("spawn: true");
      expect(await refusal(`require("node:fs").symlinkSync("a", "b")`)).not.to.include("( is not granted");
      if (facts.guardsModules) expect(await refusal(`return import("node:net")`)).to.include("net: true");
    });

    it("a tool that is granted `spawn` may, and gets no more than its own environment", async () => {
      await bed.tool("script", { capability: { spawn: true, env: { GIVEN: "yes" } } });
      const plan = bed.plan();
      const code = attempt(
        `return require("node:child_process").execFileSync(${JSON.stringify(process.execPath)}, ["-p", "JSON.stringify(process.env)"]).toString()`,
      );
      const { reached } = await bed.script(plan, code);
      expect(JSON.parse(reached)).to.include({ GIVEN: "yes" }).and.not.have.property("HOME");
    });

    it("signals, aborts and exits end no more than their own call", async () => {
      const { exit, report } = await runHost({
        scripts: [
          attempt(`process.kill(process.pid, "SIGKILL")`),
          attempt(`process.kill(process.pid, 0)`),
          attempt(`process._debugProcess(process.pid)`),
          attempt(`process.abort()`),
          attempt(`process.chdir("/")`),
          attempt(`process.umask(0)`),
          attempt(`process.setuid(65534)`),
          attempt(
            `process.title = "taken over"; if (process.title === "taken over") return "renamed"; throw new Error("kept")`,
          ),
          `process.exit(0)`,
          `process.reallyExit(3)`,
          `process.exitCode = 9; return "left an exit code"`,
          `process.emit("exit", 1); return "emitted"`,
          `require("node:os").setPriority?.(0, 19); return "slower"`,
          `return "still here"`,
        ],
      });
      expect(exit).to.equal(0);
      const { results } = report;
      for (const index of [0, 1, 2, 3, 4, 5, 6]) expect(results[index]?.output, `${index}`).to.have.property("refused");
      for (const index of [8, 9]) expect(results[index]?.error, `${index}`).to.include({ outcome: "crashed" });
      expect(results.at(-1)).to.deep.equal({ output: "still here" });
    });

    it("v8's flags, which are the whole process's, are refused where modules are guarded", async () => {
      await bed.tools("script");
      const plan = bed.plan();
      for (const code of [
        `require("node:v8").setFlagsFromString("--stack-size=100")`,
        `(await import("node:v8")).setFlagsFromString("--stack-size=100")`,
        `(await import("v8")).default.setFlagsFromString("--stack-size=100")`,
      ]) {
        const result = await bed.script(plan, attempt(code));
        if (facts.guardsModules) expect(result).to.include({ refused: "ERR_ACCESS_DENIED" });
        else expect(result).to.have.any.keys("refused", "reached");
      }
    });
  });

  describe("environment", () => {
    it("is empty", async () => {
      await bed.tools("script");
      const keys = await bed.script(bed.plan(), `return Object.keys(process.env)`);
      expect(keys.filter((key: string) => key !== "NODE_V8_COVERAGE")).to.deep.equal([]);
    });

    it("holds what the host grants; a module's own word counts for nothing", async () => {
      await bed.tool("script", {
        spec: { capability: { env: { CLAIMED: "yes" }, net: true, spawn: true } },
        capability: { env: { GIVEN: "a=b c" } },
      });
      const plan = bed.plan();
      expect(await bed.script(plan, `return process.env.GIVEN`)).to.equal("a=b c");
      expect(await bed.script(plan, `return process.env.CLAIMED ?? "nothing"`)).to.equal("nothing");
      expect(await bed.script(plan, attempt(`require("node:child_process").spawn("true")`))).to.have.property(
        "refused",
      );
    });

    it("tells nothing of the host by its arguments", async () => {
      await bed.tools("script");
      const plan = bed.plan();
      expect(await bed.script(plan, `return process.argv.length`)).to.be.at.most(2);
    });
  });

  describe("network", () => {
    let connections: number;
    let connected: Promise<void>;
    let port: number;
    let close: () => Promise<void>;

    beforeEach(async () => {
      connections = 0;
      const sockets = new Set<Socket>();
      let first: () => void = () => undefined;
      connected = new Promise((resolve) => (first = resolve));
      const server = createServer((socket) => {
        connections++;
        first();
        sockets.add(socket);
        socket.end("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
        socket.on("error", () => undefined);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      port = (server.address() as AddressInfo).port;
      close = () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          for (const socket of sockets) socket.destroy();
        });
    });

    afterEach(() => close());

    const until = (emitter: string, event: string): string =>
      `const it = ${emitter}; await new Promise((resolve, reject) => it.on("${event}", resolve).on("error", reject)); it.destroy?.();`;
    /** The ways of code that means well. */
    const modules = {
      "required net": until(`require("node:net").connect(input, "127.0.0.1")`, "connect"),
      "required net without prefix": until(`require("net").connect(input, "127.0.0.1")`, "connect"),
      "imported net": until(`(await import("node:net")).connect(input, "127.0.0.1")`, "connect"),
      "imported net without prefix": until(`(await import("net")).connect(input, "127.0.0.1")`, "connect"),
      "required http": until(`require("node:http").get({ port: input, host: "127.0.0.1" })`, "response"),
      "imported http": until(`(await import("node:http")).default.get({ port: input, host: "127.0.0.1" })`, "response"),
      "the loader": until(`require("node:module")._load("net").connect(input, "127.0.0.1")`, "connect"),
      "a require of its own": until(
        `require("node:module").createRequire("/")("net").connect(input, "127.0.0.1")`,
        "connect",
      ),
      "http's inner client": until(
        `new (require("_http_client").ClientRequest)("http://127.0.0.1:" + input).end()`,
        "response",
      ),
    };
    const globals = {
      fetch: `await fetch("http://127.0.0.1:" + input)`,
      "a WebSocket": `const socket = new WebSocket("ws://127.0.0.1:" + input); await new Promise((resolve) => (socket.onerror = socket.onclose = resolve));`,
      "a global fetch": `await globalThis.fetch("http://127.0.0.1:" + input)`,
      "an EventSource": `const source = new EventSource("http://127.0.0.1:" + input); await new Promise((resolve) => (source.onerror = resolve)); source.close();`,
    };
    const hidden = {
      "getBuiltinModule()": until(`process.getBuiltinModule("node:net").connect(input, "127.0.0.1")`, "connect"),
      "process.binding": `process.binding("tcp_wrap")`,
    };

    for (const [way, code] of Object.entries({ ...modules, ...hidden })) {
      it(`is out of reach through ${way} exactly where the descriptor says so`, async () => {
        await bed.tools("script");
        const { enforcement } = await bed.runtime.discover("fixture/script");
        const { holds } = enforcement.find(({ subject }) => subject === "net") as Enforcement;
        expect(holds).to.equal(facts.holdsNetwork || facts.guardsModules);
        const result = await bed.script(bed.plan(), attempt(code), port);
        if (holds || way in hidden) {
          expect(result, JSON.stringify(result)).to.have.property("refused");
          expect(connections).to.equal(0);
        } else {
          expect(result).to.deep.equal({ reached: null });
          // The client may know of the connection before the server does.
          await connected;
        }
      });
    }

    for (const [way, code] of Object.entries(globals)) {
      it(`is out of reach through ${way} on every version`, async () => {
        await bed.tools("script");
        const result = await bed.script(bed.plan(), attempt(code), port);
        expect(result, JSON.stringify(result)).to.have.property("refused");
        expect(connections).to.equal(0);
      });
    }

    it("is within reach for a tool that is granted it", async () => {
      await bed.tool("script", { capability: { net: true } });
      const plan = bed.plan();
      for (const code of [modules["required net"], modules["imported http"], globals.fetch]) {
        expect(await bed.script(plan, attempt(code), port)).to.deep.equal({ reached: null });
      }
      expect(connections).to.equal(3);
    });

    it("granted to some hosts is told of as held by nothing", async () => {
      await bed.tool("script", { capability: { net: ["example.org"] } });
      const { enforcement } = await bed.runtime.discover("fixture/script");
      expect(enforcement.find(({ subject }) => subject === "net")).to.deep.include({
        granted: "example.org",
        holds: false,
      });
    });
  });

  describe("output", () => {
    /** Each prints a text of its own. */
    const ways: Readonly<Record<string, (text: string) => string>> = {
      "console.log": (text) => `console.log(${text})`,
      "console.error": (text) => `console.error(${text})`,
      "console.table": (text) => `console.table([{ text: ${text} }])`,
      "process.stdout.write": (text) => `await new Promise((resolve) => process.stdout.write(${text}, resolve))`,
      "process.stdout.write of bytes": (text) => `process.stdout.write(Buffer.from(${text}))`,
      "a Console of its own": (text) =>
        `new (require("node:console").Console)(process.stdout, process.stderr).log(${text})`,
      "a pipe": (text) => `await require("node:stream/promises").pipeline([${text}], process.stdout, { end: false })`,
      "process.stdout.end": (text) => `process.stdout.end(${text})`,
      "process.stderr.end": (text) => `process.stderr.end(${text})`,
      "process._rawDebug": (text) => attempt(`process._rawDebug(${text})`),
      // What loggers do that write to a descriptor.
      "the descriptor of stdout": (text) => attempt(`require("node:fs").writeSync(1, ${text})`),
      "the descriptor of stderr": (text) => attempt(`require("node:fs").writeSync(2, ${text})`),
      "the descriptor, asynchronously": (text) =>
        attempt(
          `await new Promise((resolve, reject) => require("node:fs").write(1, ${text}, (error) => (error ? reject(error) : resolve())))`,
        ),
      "descriptors that it has closed": (text) =>
        attempt(
          `const fs = require("node:fs"); await new Promise((resolve) => fs.close(1, resolve)); fs.closeSync(2); fs.writeSync(1, ${text}); fs.writeSync(2, ${text})`,
        ),
      "a stream of the descriptor": (text) =>
        attempt(
          `const stream = require("node:fs").createWriteStream("", { fd: 1, autoClose: false }); await new Promise((resolve, reject) => stream.on("error", reject).write(${text}, resolve))`,
        ),
      "a warning": (text) => `process.emitWarning(${text}); await new Promise(setImmediate)`,
    };
    let run: HostRun;

    before(async () => {
      const scripts = Object.entries(ways).map(([way, code]) => code(JSON.stringify(`<${way}>`)));
      run = await runHost({ scripts });
    });

    for (const way of Object.keys(ways)) {
      it(`of a tool never lands on the host's streams through ${way}`, () => {
        expect(run.exit).to.equal(0);
        expect(run.stdout.slice(0, run.stdout.indexOf('{"results"'))).not.to.contain(`<${way}>`);
        expect(run.stderr).not.to.contain(`<${way}>`);
      });
    }

    it("of the host is not held up", () => {
      expect(run.stdout).to.contain('{"results"').and.to.match(/\}\n$/);
    });
  });
});
