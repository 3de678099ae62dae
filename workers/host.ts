/**
 * The entry of a Piscina worker. A lease is one long task: it settles when the coordinator
 * releases it, and dies with the worker.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { threadId } from "node:worker_threads";
import { expose } from "comlink";
import { CancelWords, LIFECYCLE_SLOT } from "../src/protocol/cancel-words.js";
import { encodeError } from "../src/protocol/error-codec.js";
import type { LeaseMessage, ReadyMessage } from "../src/protocol/lease.js";
import type { CellControl, ControlReply, ReleaseReport, ToCell } from "../src/protocol/messages.js";
import { CancelToken } from "./cancel-token.js";
import { CellEngine, type RunningCall } from "./cell-engine.js";
import { confine } from "./confine.js";
import { loadTool, type LoadedTool } from "./loader.js";
import { sendOutputTo } from "./output.js";
import { rehearse } from "./rehearsal.js";
import { ActivationContext, clip } from "./tool-context.js";

// Tool code may replace what it likes on `process`.
const activeResources = process.getActiveResourcesInfo.bind(process);
const memoryUsage = process.memoryUsage.bind(process);
const scope = new AsyncLocalStorage<RunningCall>();
let engine: CellEngine | undefined;

process.on("uncaughtException", escaped);
process.on("unhandledRejection", escaped);

/** Makes the worker ready for a lease; run by a spare. */
export function ready(message: ReadyMessage): Promise<void> {
  return rehearse(message, lease);
}

/** Serves one activation until it is released. */
export async function lease(message: LeaseMessage): Promise<ReleaseReport> {
  confine(message.confinement);
  const words = new CancelWords(message.cancelBuffer, message.slots);
  const { callPort, controlPort } = message;
  let tool: LoadedTool | undefined;
  const current = new CellEngine({
    words,
    limits: message.limits,
    activation: message.activation,
    execute: (input, context) => loaded(tool).execute(input, context),
    post: (answer, transfer) => callPort.postMessage(answer, transfer),
    within: (call, run) => scope.run(call, run),
  });
  engine = current;
  sendOutputTo((level, text) => current.tell(liveCall(current), { kind: "log", level, message: clip(text) }));
  const contextFor = (generation: number): ActivationContext =>
    new ActivationContext(message.activation, new CancelToken(words, LIFECYCLE_SLOT, generation), {
      event: (event) => {
        current.tell(undefined, event);
      },
      request: () => Promise.reject(new Error("only a call may ask for something")),
    });
  let before = new Map<string, number>();
  let released: (report: ReleaseReport) => void = () => undefined;
  const over = new Promise<ReleaseReport>((resolve) => (released = resolve));
  const control: CellControl = {
    activate: (generation) =>
      replied(async () => {
        tool = await loadTool(message.module);
        await tool.activate?.(contextFor(generation));
        return { timeOrigin: performance.timeOrigin, threadId };
      }),
    deactivate: (generation) =>
      replied(async () => {
        await tool?.deactivate?.(contextFor(generation));
        return undefined;
      }),
    describe: () => replied(async () => plainSpec((await loadTool(message.module)).spec)),
    stats: () => Promise.resolve({ threadId, heapUsed: memoryUsage().heapUsed, running: current.running }),
    release: (measure) => {
      const report = { leftovers: leftovers(before), ...(measure && { heapUsed: memoryUsage().heapUsed }) };
      // The reply has to leave before the port closes.
      setImmediate(released, report);
      return Promise.resolve(report);
    },
  };
  // Node's ports have the events of the web's, which is all that Comlink asks for.
  expose(control, controlPort);
  callPort.on("message", (incoming: ToCell) => {
    current.receive(incoming);
  });
  void listen(words, current);
  before = countResources();
  const report = await over;
  engine = undefined;
  callPort.close();
  controlPort.close();
  return report;
}

/** One wait serves every token of the lease; a wait per call would pile up. */
async function listen(words: CancelWords, current: CellEngine): Promise<void> {
  let seen = words.doorbell;
  do {
    current.ring();
    await words.rung(seen);
    seen = words.doorbell;
  } while (engine === current);
}

async function replied<T>(run: () => Promise<T>): Promise<ControlReply<T>> {
  try {
    return { ok: true, value: await run() };
  } catch (error) {
    return { ok: false, error: encodeError(error) };
  }
}

function loaded(tool: LoadedTool | undefined): LoadedTool {
  if (tool) return tool;
  throw new Error("the tool is not activated");
}

function liveCall(current: CellEngine): RunningCall | undefined {
  const call = scope.getStore();
  return call && current.isRunning(call) ? call : undefined;
}

/** An error that no promise of the tool carries must not end the worker, which other calls share. */
function escaped(error: unknown): void {
  engine?.stray(scope.getStore(), error);
}

/** A specification as plain data: a schema library's hidden keys and a tool's functions stay behind. */
function plainSpec(spec: unknown): unknown {
  return spec === undefined ? undefined : (JSON.parse(JSON.stringify(spec)) as unknown);
}

function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of activeResources()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** What the tool keeps open. */
function leftovers(before: ReadonlyMap<string, number>): string[] {
  const found: string[] = [];
  for (const [kind, count] of countResources()) {
    if (count > (before.get(kind) ?? 0)) found.push(kind);
  }
  return found;
}
