/**
 * A server whose tools burn CPU. `/health` answers at once where they run in cells, and waits for them where they run
 * on the server's own thread.
 *
 *   node dist/examples/server.js              serves on a free port until it is stopped
 *   node dist/examples/server.js --measure    measures /health in both ways, for a second each
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../src/cli/statistics.js";
import { ToolCancelledError, ToolRuntime } from "../src/index.js";
import { execute, spec } from "./tools/burn.js";

/** Milliseconds that one call holds its thread. */
const BURN_MS = 50;
/** Requests to /burn under way while /health is measured. */
const BURNING = 4;
const MEASURE_MS = 1_000;
const PAUSE_MS = 5;

function serve(runtime: ToolRuntime): Server {
  const plan = runtime.plan({ planId: "server", readOnly: true });
  return createServer((request, response) => {
    if (request.url === "/health") {
      response.end("ok\n");
      return;
    }
    // Who goes away does not leave his call running.
    const controller = new AbortController();
    response.once("close", () => {
      controller.abort();
    });
    plan.execute(spec.name, { ms: BURN_MS }, { signal: controller.signal, timeoutMs: 5_000 }).then(
      ({ output }) => response.end(`${String(output)}\n`),
      (error: unknown) => {
        if (error instanceof ToolCancelledError) return;
        response.statusCode = 503;
        response.end(`${error instanceof Error ? error.message : String(error)}\n`);
      },
    );
  });
}

async function open(inCells: boolean): Promise<{ runtime: ToolRuntime; server: Server; url: string }> {
  const runtime = new ToolRuntime();
  const module = new URL("./tools/burn.js", import.meta.url);
  runtime.register(spec, inCells ? { module } : { execute: (input) => execute(input as { ms: number }) });
  const server = serve(runtime).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { runtime, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Milliseconds that /health takes while /burn is busy. */
async function measure(inCells: boolean): Promise<readonly number[]> {
  const { runtime, server, url } = await open(inCells);
  const end = performance.now() + MEASURE_MS;
  const burn = async (): Promise<void> => {
    while (performance.now() < end) await (await fetch(`${url}/burn`)).text();
  };
  const burning = Promise.all(Array.from({ length: BURNING }, burn));
  const times: number[] = [];
  while (performance.now() < end) {
    const begin = performance.now();
    await (await fetch(`${url}/health`)).text();
    times.push(performance.now() - begin);
    await sleep(PAUSE_MS);
  }
  await burning;
  server.close();
  server.closeAllConnections();
  await runtime.close();
  return times;
}

if (process.argv.includes("--measure")) {
  for (const inCells of [false, true]) {
    const times = await measure(inCells);
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(times, share).toFixed(1));
    console.log(
      `${inCells ? "in cells      " : "on this thread"}  /health p50 ${p50} ms, p99 ${p99} ms, ${times.length} requests`,
    );
  }
} else {
  const { url, server, runtime } = await open(true);
  console.log(`listening on ${url}: /health, /burn`);
  process.once("SIGINT", () => {
    server.close();
    server.closeAllConnections();
    void runtime.close();
  });
}
