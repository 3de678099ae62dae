import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { EXIT } from "../../src/cli/exit-codes.js";
import { temporaryFolder } from "../fixtures/folder.js";

const MAIN = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));

describe("the command as a process", () => {
  const folder = temporaryFolder();
  let child: ChildProcess | undefined;

  afterEach(() => {
    child?.kill("SIGKILL");
    child = undefined;
  });

  const start = (words: string[], env: Readonly<Record<string, string>> = {}): ChildProcess => {
    child = spawn(process.execPath, [MAIN, ...words], {
      cwd: folder().path,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    return child;
  };
  const module = (name: string, execute: string): string =>
    folder().write(
      `${name}.mjs`,
      `export const spec = { name: "my/${name}", description: "For tests.", inputSchema: {}, capability: { writes: false } };
       export ${execute}`,
    );
  const streamsOf = ({ stdout, stderr }: ChildProcess): [NodeJS.ReadableStream, NodeJS.ReadableStream] => {
    if (!stdout || !stderr) throw new Error("the child has no pipes");
    return [stdout, stderr];
  };
  /** Resolves with the line that holds a text; later lines are read on. */
  const line = async (stream: NodeJS.ReadableStream, wanted: string): Promise<string> => {
    const lines = createInterface({ input: stream });
    return await new Promise((resolve, reject) => {
      lines.on("line", (each) => {
        if (each.includes(wanted)) resolve(each);
      });
      lines.on("close", () => reject(new Error(`"${wanted}" was not printed`)));
    });
  };

  it("writes a large result whole into a slow pipe", async () => {
    const path = module(
      "big",
      `const execute = () => Array.from({ length: 70000 }, (_, at) => "line " + at + " of a long output, as long as a line may be in most editors");`,
    );
    const running = start(["call", "--load", path, "big"]);
    const [stdout] = streamsOf(running);
    stdout.pause();
    const exited = once(running, "exit");
    await once(stdout, "readable");
    const [written] = await Promise.all([text(stdout), exited]);
    expect(written.length).to.be.greaterThan(5_000_000);
    expect(JSON.parse(written)).to.have.length(70_000);
    expect(running.exitCode).to.equal(EXIT.ok);
  });

  it("ends quietly when nobody reads on", async () => {
    const path = module("big", `const execute = () => "x".repeat(4e6);`);
    const running = start(["call", "--load", path, "big"]);
    const [stdout, stderr] = streamsOf(running);
    const said = text(stderr);
    await once(stdout, "readable");
    (stdout as NodeJS.ReadableStream & { destroy(): void }).destroy();
    const [code] = (await once(running, "exit")) as [number];
    expect(code).to.equal(EXIT.pipe);
    expect(await said).to.equal("");
  });

  it("cancels at the first SIGINT: a tool that listens stops by itself", async () => {
    const path = module(
      "listens",
      `const execute = async (_, { log, cancellationToken: { signal } }) => {
         log.info("started");
         await new Promise((resolve) => signal.addEventListener("abort", resolve));
         log.info("stopping");
         signal.throwIfAborted();
       };`,
    );
    const running = start(["call", "--load", path, "listens"]);
    const [, stderr] = streamsOf(running);
    await line(stderr, "started");
    running.kill("SIGINT");
    const [code] = (await once(running, "exit")) as [number];
    expect(code).to.equal(EXIT.interrupted);
  });

  it("kills at the second SIGINT what does not stop, and ends with SIGTERM's own code", async () => {
    const path = module("spins", `const execute = (_, { log }) => { log.info("started"); for (;;); };`);
    folder().write("toolcell.config.json", '{ "runtime": { "graceMs": 600000 } }');
    for (const [first, code] of [
      ["SIGINT", EXIT.interrupted],
      ["SIGTERM", EXIT.terminated],
    ] as const) {
      const running = start(["call", "--load", path, "spins"]);
      const [, stderr] = streamsOf(running);
      const lines = createInterface({ input: stderr });
      const exited = once(running, "exit");
      for await (const each of lines) {
        if (each.includes("started")) running.kill(first);
        if (each.includes("Cancelling") || each.includes("Stopping")) running.kill("SIGINT");
      }
      expect((await exited)[0]).to.equal(code);
    }
  });

  it("cancels a plan, and still tells how far it came", async () => {
    const path = module("spins", `const execute = (_, { log }) => { log.info("started"); for (;;); };`);
    folder().write("toolcell.config.json", JSON.stringify({ modules: [path], runtime: { graceMs: 50 } }));
    folder().write("plan.yaml", "steps:\n  - { id: a, tool: my/spins }\n  - { id: b, tool: my/spins, after: [a] }\n");
    const running = start(["run", "plan.yaml"]);
    const [stdout, stderr] = streamsOf(running);
    const report = text(stdout);
    await line(stderr, "started");
    running.kill("SIGINT");
    const [code] = (await once(running, "exit")) as [number];
    expect(code).to.equal(EXIT.interrupted);
    expect(JSON.parse(await report))
      .to.deep.include({ outcome: "cancelled" })
      .and.have.nested.property("steps.b.outcome", "cancelled");
  });

  /** A config, which is a program, that sends the command a signal once it listens. */
  const signalling = (name: NodeJS.Signals, config: object): string =>
    folder().write(
      "toolcell.config.mjs",
      `process.on("newListener", (name) => {
         if (name === "${name}") setImmediate(() => process.kill(process.pid, "${name}"));
       });
       export default ${JSON.stringify(config)};`,
    );

  for (const [name, code] of [
    ["SIGINT", EXIT.interrupted],
    ["SIGTERM", EXIT.terminated],
  ] as const) {
    it(`ends at the first ${name} while modules load`, async () => {
      folder().write("spins.mjs", "for (;;);");
      folder().write("waits.mjs", "await new Promise(() => {});");
      signalling(name, { modules: ["spins.mjs", "waits.mjs"], runtime: { graceMs: 600_000 } });
      const running = start(["list"]);
      const [stdout, stderr] = streamsOf(running);
      const said = Promise.all([text(stdout), text(stderr)]);
      expect((await once(running, "exit"))[0]).to.equal(code);
      expect(await said).to.deep.equal(["", ""]);
    });
  }

  it("ends at the first SIGINT while it waits for an input from stdin", async () => {
    signalling("SIGINT", {});
    child = spawn(process.execPath, [MAIN, "call", "read-file", "-"], { cwd: folder().path, stdio: "pipe" });
    expect((await once(child, "exit"))[0]).to.equal(EXIT.interrupted);
  });

  const runToEnd = async (words: string[], env?: Readonly<Record<string, string>>): Promise<[unknown, string]> => {
    const running = start(words, env);
    const [, stderr] = streamsOf(running);
    const [said, [code]] = await Promise.all([text(stderr), once(running, "exit")]);
    return [code, said];
  };

  it("ends though a config leaves something open", async () => {
    folder().write("toolcell.config.mjs", "setInterval(() => undefined, 1_000); export default {};");
    expect(await runToEnd(["list"])).to.deep.equal([EXIT.ok, ""]);
  });

  it("says in one line that there is no folder for temporary files", async () => {
    const [code, said] = await runToEnd(["doctor"], { TMPDIR: folder().join("none") });
    expect(code).to.equal(EXIT.usage);
    expect(said).to.match(/^toolcell: Nothing can be written into .*none, .*\(ENOENT\); set TMPDIR to another\.\n$/);
  });

  it("says in one line that the current folder is gone", async () => {
    const gone = folder().mkdir("gone");
    const script = `cd "${gone}" && rmdir "${gone}" && exec "${process.execPath}" "${MAIN}" list`;
    child = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "pipe"] });
    const [said, [code]] = await Promise.all([text(streamsOf(child)[1]), once(child, "exit")]);
    expect(code).to.equal(EXIT.usage);
    expect(said).to.match(/^toolcell: The current folder is gone[^\n]*\n$/);
  });

  it("says in one line that the output cannot be written", async function () {
    if (!existsSync("/dev/full")) this.skip(); // A device of Linux.
    const full = openSync("/dev/full", "w");
    child = spawn(process.execPath, [MAIN, "list"], { cwd: folder().path, stdio: ["ignore", full, "pipe"] });
    closeSync(full);
    const { stderr } = child;
    if (!stderr) throw new Error("the child has no pipe");
    const [said, [code]] = await Promise.all([text(stderr), once(child, "exit")]);
    expect(said).to.equal("toolcell: the output cannot be written (ENOSPC).\n");
    expect(code).to.equal(EXIT.output);
  });
});
