/** A line that a person types in answer to a question. */

/** Rounds of the event loop in which what was typed before has been read. */
const STALE_ROUNDS = 3;

/** Whether a stream will give nothing more. */
export function isOver(stdin: NodeJS.ReadableStream): boolean {
  const { readableEnded, destroyed } = stdin as { readableEnded?: boolean; destroyed?: boolean };
  return readableEnded === true || destroyed === true;
}

/**
 * Reads a line. The terminal does the editing, and turns Ctrl-C into a signal, as it does without a question.
 * @param ask shows the question. What was typed before it is no answer to it, and is dropped.
 * @returns undefined where the input ends, or nobody waits any more
 */
export async function typedLine(
  stdin: NodeJS.ReadableStream,
  ask: () => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (isOver(stdin) || signal.aborted) return undefined;
  let typed = Buffer.alloc(0);
  let isAsked = false;
  let close: (line: string | undefined) => void = () => undefined;
  const line = new Promise<string | undefined>((resolve) => (close = resolve));
  const heard = (chunk: Buffer | string): void => {
    if (!isAsked) return;
    typed = Buffer.concat([typed, Buffer.from(chunk)]);
    const end = typed.indexOf("\n");
    if (end >= 0) close(typed.toString("utf8", 0, end));
  };
  const over = (): void => {
    close(undefined);
  };
  const events = ["end", "close", "error"] as const;
  stdin.on("data", heard);
  for (const event of events) stdin.on(event, over);
  signal.addEventListener("abort", over, { once: true });
  try {
    stdin.resume();
    for (let round = 0; round < STALE_ROUNDS; round++) await new Promise((resolve) => setImmediate(resolve));
    isAsked = true;
    ask();
    return await line;
  } finally {
    stdin.pause();
    stdin.off("data", heard);
    for (const event of events) stdin.off(event, over);
    signal.removeEventListener("abort", over);
  }
}
