/** A bare worker that loads what a cell loads: the bundled host and the tool's module. */
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

/** CommonJS, which starts faster than a module; the tool's module is imported in either case. */
const SOURCE = `
const { parentPort, workerData } = require("node:worker_threads");
require(workerData.host);
const use = async (tool) => {
  const { execute } = await import(tool);
  parentPort.on("message", (input) => parentPort.postMessage(execute(input)));
  parentPort.postMessage("ready");
};
if (workerData.tool) use(workerData.tool);
else {
  parentPort.once("message", use);
  import("data:text/javascript,0").then(() => parentPort.postMessage("up"));
}
`;

const host = fileURLToPath(new URL("../../workers/host.cjs", import.meta.url));

/** Starts one and waits until it has answered a call. */
export async function startBareWorker(tool: URL): Promise<Worker> {
  const worker = new Worker(SOURCE, { eval: true, workerData: { host, tool: tool.href } });
  await once(worker, "message");
  await firstAnswer(worker);
  return worker;
}

/** Starts one that has loaded no tool yet. */
export async function startBareSpare(): Promise<Worker> {
  const worker = new Worker(SOURCE, { eval: true, workerData: { host } });
  await once(worker, "message");
  return worker;
}

/** Has a spare load the tool and answer a call. */
export async function useBareSpare(worker: Worker, tool: URL): Promise<void> {
  const ready = once(worker, "message");
  worker.postMessage(tool.href);
  await ready;
  await firstAnswer(worker);
}

async function firstAnswer(worker: Worker): Promise<void> {
  const answer = once(worker, "message");
  worker.postMessage({});
  await answer;
}
