/** `toolcell bench PLAN|TOOL`: many plans at one time, and where their time goes. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { PHASES, ToolRuntimeError, type Outcome, type ToolExecutionTrace } from "../../index.js";
import { loadPlan, runPlan, type LoadedPlan } from "../../plan/index.js";
import { readInput } from "../call-input.js";
import { documentText } from "../document-text.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { Session, type SessionOptions } from "../session.js";
import { greatest, quantile } from "../statistics.js";
import { milliseconds, table } from "../table.js";
import type { Terminal } from "../terminal.js";
import { findTool } from "../tool-name.js";
import { UsageError } from "../usage-error.js";

/** Options of the command. */
export interface BenchOptions extends SessionOptions {
  readonly json?: boolean;
  /** Plans at one time. */
  readonly plans: number;
  /** Calls of each plan, of a tool; runs of each plan, of a plan file. */
  readonly calls: number;
  /** Calls under way of each plan, of a tool. */
  readonly concurrency: number;
  /** Calls, or runs, of each plan that are not counted. */
  readonly warmUp: number;
}

/** What was measured. */
interface Measured {
  readonly traces: readonly ToolExecutionTrace[];
  /** Milliseconds that each plan took. */
  readonly planTimes: readonly number[];
  readonly wallMs: number;
  /** Milliseconds of event-loop delay. */
  readonly loopDelay: { readonly p50: number; readonly p99: number };
}

/** What one plan does, `times` over; gives the traces of its calls. */
type Work = (planId: string, times: number) => Promise<ToolExecutionTrace[]>;

const SHARES = [0.5, 0.9, 0.99] as const;

export async function bench(
  terminal: Terminal,
  subject: string,
  words: readonly string[],
  options: BenchOptions,
): Promise<ExitCode> {
  const { cwd } = terminal.host;
  const plan = (await stat(resolve(cwd, subject)).catch(() => undefined))?.isFile()
    ? await planOf(subject, cwd)
    : undefined;
  if (plan && words.length > 0) {
    throw new UsageError(`A plan takes no input; "${words[0]}" is too many. Options stand before the plan.`);
  }
  await using session = await Session.open(terminal, { ...options, approve: options.approve ?? "none" }, {}, true);
  const work = plan ? planWork(session, plan) : await toolWork(terminal, session, subject, words, options);
  const { plans, calls, warmUp } = options;
  const many = (round: string, times: number): Promise<Measured> => measure(plans, round, times, work);
  if (warmUp > 0) {
    terminal.note(`warming up: ${warmUp} of each of ${plans} plans`);
    await many("warm", warmUp);
  }
  if (session.signal.aborted) return session.exitCode(EXIT.failed);
  terminal.note(`measuring: ${calls} of each of ${plans} plans`);
  const measured = await many("bench", calls);
  const report = reportOf(measured);
  await terminal.print(options.json ? documentText(report) : draw(report));
  return session.exitCode(report.outcomes["ok"] === report.calls ? EXIT.ok : EXIT.failed);
}

async function planOf(file: string, cwd: string): Promise<LoadedPlan> {
  try {
    return await loadPlan(file, cwd);
  } catch (error) {
    throw error instanceof ToolRuntimeError ? new UsageError(error.message) : error;
  }
}

function planWork({ runtime, signal }: Session, plan: LoadedPlan): Work {
  return async (planId, times) => {
    const traces: ToolExecutionTrace[] = [];
    for (let run = 0; run < times && !signal.aborted; run++) {
      try {
        await runPlan(runtime, plan, {
          signal,
          planId: `${planId}-${run}`,
          onEvent: (event) => {
            if (event.type === "ended" && event.trace) traces.push(event.trace);
          },
        });
      } catch (error) {
        throw error instanceof ToolRuntimeError && error.code === "INVALID_PLAN"
          ? new UsageError(error.message)
          : error;
      }
    }
    return traces;
  };
}

async function toolWork(
  terminal: Terminal,
  session: Session,
  name: string,
  words: readonly string[],
  { concurrency }: BenchOptions,
): Promise<Work> {
  const { runtime, signal } = session;
  const spec = findTool(runtime, name);
  const input = await session.unlessInterrupted(readInput(spec, words, terminal.host));
  return async (planId, times) => {
    const context = session.context(planId);
    const traces: ToolExecutionTrace[] = [];
    let left = times;
    const lane = async (): Promise<void> => {
      while (left-- > 0 && !signal.aborted) {
        try {
          traces.push((await runtime.execute(spec.name, input, context, { signal })).trace);
        } catch {
          // The trace says what happened.
          const trace = context.traces.at(-1);
          if (trace) traces.push(trace);
        }
      }
    };
    await Promise.all(Array.from({ length: concurrency }, lane));
    await runtime.deactivatePlan(planId);
    return traces;
  };
}

async function measure(plans: number, round: string, times: number, work: Work): Promise<Measured> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const begin = performance.now();
  const planTimes: number[] = [];
  const traces = await Promise.all(
    Array.from({ length: plans }, async (_, index) => {
      const own = await work(`${round}-${index}`, times);
      planTimes.push(performance.now() - begin);
      return own;
    }),
  );
  delay.disable();
  const wallMs = performance.now() - begin;
  return {
    traces: traces.flat(),
    planTimes,
    wallMs,
    loopDelay: { p50: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6 },
  };
}

interface Line {
  readonly name: string;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

interface BenchReport {
  readonly calls: number;
  readonly wallMs: number;
  readonly callsPerSecond: number;
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
  readonly phases: readonly Line[];
  readonly plans: {
    readonly count: number;
    readonly medianMs: number;
    readonly slowestMs: number;
    readonly slowestOverMedian: number;
  };
  readonly eventLoopDelayMs: { readonly p50: number; readonly p99: number };
}

function reportOf({ traces, planTimes, wallMs, loopDelay }: Measured): BenchReport {
  const line = (name: string, samples: readonly number[]): Line => {
    const [p50 = NaN, p90 = NaN, p99 = NaN] = SHARES.map((share) => quantile(samples, share));
    return { name, p50, p90, p99 };
  };
  const outcomes: Partial<Record<Outcome, number>> = {};
  for (const { outcome } of traces) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const medianMs = quantile(planTimes, 0.5);
  const slowestMs = greatest(planTimes);
  return {
    calls: traces.length,
    wallMs,
    callsPerSecond: (traces.length / wallMs) * 1_000,
    outcomes,
    phases: [
      ...PHASES.map((phase) =>
        line(
          phase,
          traces.map(({ phases }) => phases[phase]),
        ),
      ),
      line(
        "total",
        traces.map(({ durationMs }) => durationMs),
      ),
    ],
    plans: { count: planTimes.length, medianMs, slowestMs, slowestOverMedian: slowestMs / medianMs },
    eventLoopDelayMs: loopDelay,
  };
}

function draw({ calls, wallMs, callsPerSecond, outcomes, phases, plans, eventLoopDelayMs }: BenchReport): string {
  const ended = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome.replaceAll("_", " ")}`);
  return [
    table<Line>(
      [
        { title: "phase", left: true, cell: ({ name }) => name },
        { title: "p50 ms", cell: ({ p50 }) => milliseconds(p50) },
        { title: "p90 ms", cell: ({ p90 }) => milliseconds(p90) },
        { title: "p99 ms", cell: ({ p99 }) => milliseconds(p99) },
      ],
      phases,
    ),
    "",
    `${calls} calls in ${milliseconds(wallMs)} ms, ${Math.round(callsPerSecond)} calls/s: ${ended.join(", ")}`,
    `${plans.count} plans: median ${milliseconds(plans.medianMs)} ms, slowest ${milliseconds(plans.slowestMs)} ms (${plans.slowestOverMedian.toFixed(2)} × the median)`,
    `event-loop delay of this process: p50 ${milliseconds(eventLoopDelayMs.p50)} ms, p99 ${milliseconds(eventLoopDelayMs.p99)} ms`,
  ].join("\n");
}
