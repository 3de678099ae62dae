/** Runs until it is told to stop, each way that a tool can hear of it, or never. */
import type { ToolContext, ToolSpec } from "../../src/index.js";

/** What {@link execute} takes. */
export interface Stoppable {
  readonly how: "poll" | "signal" | "never" | "price" | "once";
  readonly polls?: number;
}

export const spec: ToolSpec = {
  name: "bench/stoppable",
  description: "Runs until it is told to stop.",
  inputSchema: {
    type: "object",
    required: ["how"],
    properties: { how: { enum: ["poll", "signal", "never", "price", "once"] }, polls: { type: "integer" } },
  },
  capability: { writes: false },
};

/** An answer after a cancel is discarded, so the time at which the cancel was seen travels as a log line. */
export async function execute({ how, polls = 0 }: Stoppable, context: ToolContext): Promise<unknown> {
  const { cancellationToken: token, log } = context;
  switch (how) {
    case "once":
      return 0;
    case "price":
      return price(polls, context);
    case "never":
      log.info("running");
      for (;;);
    case "poll":
      log.info("running");
      while (!token.isCancelled);
      log.info("seen", performance.now());
      return 0;
    case "signal":
      await new Promise<void>((resolve) => {
        token.signal.addEventListener("abort", () => {
          log.info("seen", performance.now());
          resolve();
        });
        log.info("running");
      });
      return 0;
  }
}

/** Nanoseconds of one poll and of one bare atomic load, each less the empty loop's. */
function price(polls: number, { cancellationToken: token }: ToolContext): { poll: number; load: number } {
  const words = new Int32Array(new SharedArrayBuffer(8));
  let seen = 0;
  const nanoseconds = (look: () => boolean): number => {
    const begin = performance.now();
    for (let turn = 0; turn < polls; turn++) if (look()) seen++;
    return ((performance.now() - begin) * 1e6) / polls;
  };
  const empty = nanoseconds(() => seen < 0);
  const poll = nanoseconds(() => token.isCancelled);
  const load = nanoseconds(() => Atomics.load(words, 0) === 1);
  return { poll: poll - empty, load: load - empty };
}
