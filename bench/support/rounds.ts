/** Measures several subjects side by side. */
import { Bench } from "tinybench";

/** Something that is measured. */
export interface Subject {
  readonly name: string;
  /** Measures once. @returns the figure, in whatever unit all samples of the subject share */
  measure(): Promise<number>;
}

/**
 * Measures in rounds A B C A B C …, so that a slow moment of the machine meets every subject.
 * @returns the middle of each round's samples, by subject
 */
export async function interleave(
  subjects: readonly Subject[],
  { rounds, samples = 1, warmup = 1 }: { rounds: number; samples?: number; warmup?: number },
): Promise<Record<string, number[]>> {
  const figures: Record<string, number[]> = Object.fromEntries(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const bench = new Bench({
      time: 0,
      iterations: samples,
      warmup: round === 0 && warmup > 0,
      warmupTime: 0,
      warmupIterations: warmup,
      throws: true,
    });
    for (const subject of subjects) {
      bench.add(subject.name, async () => ({ overriddenDuration: await subject.measure() }), { async: true });
    }
    for (const task of await bench.run()) {
      if (task.result.state === "completed") figures[task.name]?.push(task.result.latency.p50);
    }
  }
  return figures;
}

/** Runs one subject's samples without rounds, for figures that want many of them. */
export async function repeat(times: number, measure: () => Promise<number>): Promise<number[]> {
  const samples: number[] = [];
  for (let time = 0; time < times; time++) samples.push(await measure());
  return samples;
}

/** Calls with `inFlight` under way at any moment. @returns microseconds a call */
export async function microsecondsPerCall(
  inFlight: number,
  calls: number,
  call: () => Promise<unknown>,
): Promise<number> {
  let left = calls;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: inFlight }, lane));
  return ((performance.now() - begin) * 1_000) / calls;
}

/** Milliseconds that some work takes. */
export async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** As {@link microsecondsPerCall}, of the time that all threads were on a core: what others do there hardly shows in it. */
export async function coreMicrosecondsPerCall(
  inFlight: number,
  calls: number,
  call: () => Promise<unknown>,
): Promise<number> {
  const before = process.cpuUsage();
  await microsecondsPerCall(inFlight, calls, call);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}
