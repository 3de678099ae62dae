/** What a call leaves behind: when each thing happened, and what became of it. */

/** What became of a call. It says what happened, never what was hoped. */
export const OUTCOMES = [
  "ok",
  "tool_error",
  "threw",
  "invalid_input",
  "invalid_output",
  "denied",
  "not_registered",
  "activation_failed",
  "overloaded",
  "cancelled",
  "timed_out",
  "killed",
  "crashed",
  "out_of_memory",
  "unsettled",
] as const;

/** One of {@link OUTCOMES}. */
export type Outcome = (typeof OUTCOMES)[number];

/** The gaps between a call's marks, in order, in milliseconds. Their sum is the duration. */
export const PHASES = [
  "gates",
  "approval",
  "admission",
  "activation",
  "dispatch",
  "outbound",
  "start",
  "run",
  "inbound",
  "close",
] as const;

/** Milliseconds spent in each phase. */
export type TracePhases = Readonly<Record<(typeof PHASES)[number], number>>;

/** Where a call ran. */
export interface CellInfo {
  /** Unique within the process. */
  readonly id: string;
  /** Its isolation tier. */
  readonly tier: string;
  /** Node's id of the worker thread; absent inline. */
  readonly threadId?: number;
  /** The process it is in; absent inline. */
  readonly pid?: number;
  /** Reserved for cells on other hosts; absent here. */
  readonly node?: string;
}

/** Immutable record of one call. */
export interface ToolExecutionTrace {
  /** `namespace/name`, as it was called. */
  readonly toolName: string;
  /** The registered version, where the tool has one. */
  readonly toolVersion?: string;
  /** The plan that called. */
  readonly planId: string;
  /** Unique among the plan's running calls. */
  readonly callId: string;
  /** The call whose tool made this one. */
  readonly parentCallId?: string;
  /** The approval on which it ran, where a human had to approve it. */
  readonly approvalId?: string;
  /** The checkpoint that was taken before it ran, where the plan requires one. */
  readonly checkpointId?: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /** ISO 8601, UTC. */
  readonly endedAt: string;
  /** Milliseconds; the sum of `phases`. */
  readonly durationMs: number;
  /** Where the time went. */
  readonly phases: TracePhases;
  /** Estimated bytes of the output; 0 when there is none. */
  readonly resultSizeBytes: number;
  /** Whether `outcome` is `ok`. */
  readonly success: boolean;
  /** The error's message, when the call did not succeed. */
  readonly error?: string;
  /** What became of the call. */
  readonly outcome: Outcome;
  /** Absent when the call never reached a cell. */
  readonly cell?: CellInfo;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** What the tool reported, in the tool's own unit. */
  readonly cost?: number;
}

/**
 * Points in time of one call, from `performance.now()`, whose origin is the same in every
 * thread of a process. `NaN` stands for a point that was not reached.
 */
export class CallMarks {
  queued: number;
  validated = NaN;
  approved = NaN;
  admitted = NaN;
  activated = NaN;
  dispatched = NaN;
  received = NaN;
  started = NaN;
  finished = NaN;
  settled = NaN;

  constructor(queued: number) {
    this.queued = queued;
  }

  /** Forgets what followed the dispatch, for a call that is sent to another cell. */
  undispatch(): void {
    this.dispatched = this.received = this.started = this.finished = NaN;
  }
}

/** Origin of `performance.now()` as epoch milliseconds. */
const timeOrigin = performance.timeOrigin;

const KEPT = 64;
const milliseconds = new Float64Array(KEPT).fill(NaN);
const texts = new Array<string>(KEPT).fill("");

/** Formats a mark as ISO 8601. Busy hosts begin and end many calls in the same few milliseconds, so their texts are kept. */
export function isoTime(mark: number): string {
  const millisecond = Math.floor(timeOrigin + mark);
  const place = ((millisecond % KEPT) + KEPT) % KEPT;
  if (milliseconds[place] !== millisecond) {
    milliseconds[place] = millisecond;
    texts[place] = new Date(millisecond).toISOString();
  }
  return texts[place] ?? "";
}

/**
 * Turns marks into contiguous phases. A mark that was not reached takes the time at which the
 * call was settled, so the phase in which a call ended early has all of its remaining time.
 * Marks written by a cell are its word: each is clamped between its neighbours.
 */
export function phasesOf(marks: CallMarks, closed: number): TracePhases {
  const end = Math.max(closed, marks.queued);
  const settled = clamp(marks.settled, marks.queued, end, end);
  const validated = clamp(marks.validated, marks.queued, settled, settled);
  const approved = clamp(marks.approved, validated, settled, settled);
  const admitted = clamp(marks.admitted, approved, settled, settled);
  const activated = clamp(marks.activated, admitted, settled, settled);
  const dispatched = clamp(marks.dispatched, activated, settled, settled);
  const received = clamp(marks.received, dispatched, settled, settled);
  const started = clamp(marks.started, received, settled, settled);
  const finished = clamp(marks.finished, started, settled, settled);
  return Object.freeze({
    gates: validated - marks.queued,
    approval: approved - validated,
    admission: admitted - approved,
    activation: activated - admitted,
    dispatch: dispatched - activated,
    outbound: received - dispatched,
    start: started - received,
    run: finished - started,
    inbound: settled - finished,
    close: end - settled,
  });
}

function clamp(value: number, low: number, high: number, missing: number): number {
  if (value !== value) return missing;
  return value < low ? low : value > high ? high : value;
}
