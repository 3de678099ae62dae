/** Work on many things at once, with the results in the order of the things. */

/** How work is started ahead of its turn. */
export interface ReadAhead<Thing, Result> {
  /** How many are worked on or wait for their turn at most. */
  readonly ahead: number;
  readonly work: (thing: Thing) => Promise<Result>;
  /** Called with each result that nobody will ask for. */
  readonly discard?: (result: Result) => Promise<void>;
}

type Settled<Result> = { readonly result: Result } | { readonly error: unknown };

/**
 * The results of work on things that are taken one by one.
 * @throws what the work of a thing throws, when its turn comes
 */
export async function* readAhead<Thing, Result>(
  things: AsyncIterable<Thing>,
  { ahead, work, discard }: ReadAhead<Thing, Result>,
): AsyncGenerator<Result> {
  const started: Promise<Settled<Result>>[] = [];
  try {
    for await (const thing of things) {
      // Settled into a value, as one that fails before its turn would be a rejection that nobody handles.
      started.push(
        work(thing).then(
          (result) => ({ result }),
          (error: unknown) => ({ error }),
        ),
      );
      if (started.length >= ahead) yield await next(started);
    }
    while (started.length > 0) yield await next(started);
  } finally {
    for (const settled of await Promise.all(started)) if ("result" in settled) await discard?.(settled.result);
  }
}

async function next<Result>(started: Promise<Settled<Result>>[]): Promise<Result> {
  const settled = await (started.shift() as Promise<Settled<Result>>);
  if ("error" in settled) throw settled.error;
  return settled.result;
}
