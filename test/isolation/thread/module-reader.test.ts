import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { expect } from "chai";
import sinon from "sinon";
import { ToolActivationError } from "../../../src/index.js";
import { Folder } from "../../fixtures/folder.js";
import { runtimesOfSuite } from "../../support/runtimes.js";

/** Counts the threads that are alive at one time. */
class ThreadCount {
  most = 0;
  #live = 0;

  constructor() {
    process.on("worker", this.#started);
  }

  stop(): void {
    process.off("worker", this.#started);
  }

  readonly #started = (worker: Worker): void => {
    this.most = Math.max(this.most, ++this.#live);
    worker.once("exit", () => this.#live--);
  };
}

describe("isolation/thread/module-reader", () => {
  const newRuntime = runtimesOfSuite();
  let folder: Folder;
  let threads: ThreadCount;

  beforeEach(() => {
    folder = new Folder();
    threads = new ThreadCount();
  });

  afterEach(() => {
    sinon.restore();
    syncBuiltinESMExports();
    threads.stop();
    folder.remove();
  });

  const modules = (count: number): string[] =>
    Array.from({ length: count }, (_, at) =>
      folder.write(
        `module-${at}.mjs`,
        `export const spec = { name: "acme/module-${at}", description: "one of many", inputSchema: {} };
         export const execute = () => ${at};`,
      ),
    );

  it("read() reads as many modules at one time as there are cores", async () => {
    const runtime = newRuntime();
    const urls = modules(availableParallelism() * 2 + 1);
    const specs = await Promise.all(urls.map((url) => runtime.registerModule(url)));
    expect(specs.map(({ name }) => name)).to.deep.equal(urls.map((_, at) => `acme/module-${at}`));
    expect(threads.most).to.equal(availableParallelism());
  });

  it("read() goes on with the next after one that fails", async () => {
    const runtime = newRuntime();
    const broken = Array.from({ length: availableParallelism() * 2 }, (_, at) =>
      folder.write(`broken-${at}.mjs`, "throw new Error('broken');"),
    );
    const [good = ""] = modules(1);
    const outcomes = await Promise.allSettled([...broken, good].map((url) => runtime.registerModule(url)));
    expect(outcomes.map(({ status }) => status)).to.deep.equal([...broken.map(() => "rejected"), "fulfilled"]);
  });

  it("close() ends what is read and what waits for its turn", async () => {
    const runtime = newRuntime();
    const urls = modules(availableParallelism() * 2 + 1);
    const registering = Promise.allSettled(urls.map((url) => runtime.registerModule(url)));
    await runtime.close();
    for (const outcome of await registering) {
      expect(outcome.status).to.equal("rejected");
      expect((outcome as PromiseRejectedResult).reason).to.be.instanceOf(ToolActivationError);
    }
    expect(runtime.list()).to.deep.equal([]);
  });

  it("close() follows the imports of no module that still waits for its turn", async () => {
    const runtime = newRuntime();
    const urls = modules(availableParallelism() + 1);
    const readFile = sinon.spy(files, "readFile");
    syncBuiltinESMExports();
    const registering = Promise.allSettled(urls.map((url) => runtime.registerModule(url)));
    await runtime.close();
    expect((await registering).map(({ status }) => status)).to.deep.equal(urls.map(() => "rejected"));
    sinon.assert.neverCalledWith(readFile, urls.at(-1));
  });
});
