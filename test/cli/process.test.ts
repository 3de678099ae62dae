import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
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

  const start = (words: string[]): ChildProcess => {
    child = spawn(process.execPath, [MAIN, ...words], { cwd: folder().path, stdio: ["ignore", "pipe", "pipe"] });
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
});
