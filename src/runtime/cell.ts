/** The port that every isolation tier implements. The runtime knows tiers as nothing else. */
import type { CancelReason } from "../protocol/cancel-words.js";
import type { ActivationMessage, CallEvent, CellAnswer } from "../protocol/messages.js";
import type { IsolationTier, ToolImplementation } from "../protocol/tool.js";
import type { CallMarks, CellInfo } from "../protocol/trace.js";
import type { Grant } from "./grant.js";

/** Of a call that is in no cell. */
export const NO_SLOT = -1;

/** A call as a cell sees it. */
export interface CellCall {
  readonly callId: string;
  readonly input: unknown;
  /** Whether nobody can change the input any more. One that its caller still has is to be sent at once. */
  readonly inputIsKept: boolean;
  /** Buffers inside the input to hand over; such a call can be sent once only. */
  readonly transfer: readonly ArrayBuffer[] | undefined;
  readonly attempt: number;
  readonly idempotencyKey: string | undefined;
  readonly marks: CallMarks;
  /** Its place in the cell that has it; the cell's to set. */
  slot: number;
  /** Runs tool code in the caller's async context, where the tier can. */
  readonly inCallerContext: (<T>(run: () => T) => T) | undefined;
}

/** How a cell came to its end. */
export interface CellEnd {
  /** `abandoned` and `quarantined`: the tier could not end it, so its work may still go on. */
  readonly kind: "released" | "killed" | "crashed" | "out_of_memory" | "quarantined" | "abandoned";
  /** What escaped from the tool's code or ended its worker, where it crashed or ran out of memory. */
  readonly error?: Error;
  /** Of its worker, where that ended by itself; absent inline. */
  readonly exitCode?: number;
}

/** Hears what happens in a cell. */
export interface CellObserver<Call extends CellCall> {
  /** A slot is free again. `call` is absent where the call was taken back before. */
  answered(cell: Cell<Call>, call: Call | undefined, answer: CellAnswer): void;
  /** The call's input cannot be copied; the tool was not reached. */
  refused(cell: Cell<Call>, call: Call, message: string): void;
  /** `call` is absent where the event belongs to no running call. */
  told(cell: Cell<Call>, call: Call | undefined, event: CallEvent): void;
  /** The cell asks for one of the host functions; the answer goes back to it. */
  asked(cell: Cell<Call>, call: Call, name: string, args: unknown): Promise<unknown>;
  /**
   * An error escaped from tool code. Where `call` is given, its answer follows; `late` says that
   * its call is over. With neither it cannot be told whose it is.
   */
  stray(cell: Cell<Call>, call: Call | undefined, late: boolean, error: Error): void;
}

/** Where a cell's worker comes from: it was started for it, started ahead for whoever comes, or has served the tool before. */
export type CellOrigin = "cold" | "spare" | "warm";

/** What a cell that has served long enough has too much of. */
export type RecycleReason = "calls" | "heap";

/** Where one activation's tool code lives. */
export interface Cell<Call extends CellCall> {
  readonly info: CellInfo;
  /** Whether `kill` ends it. Where it does not, a call that will not stop is given up alone. */
  readonly canBeKilled: boolean;
  /** Milliseconds in which it was not idle, for this lease; 0 where that cannot be measured. */
  readonly cpuMs: number;
  readonly origin: CellOrigin;
  /** Calls that its worker was ever sent, under earlier leases too. */
  readonly served: number;
  /** Bytes of its own heap in use, once it has a moment to tell; nothing where it has no such heap, or is gone. */
  heapUsed(): Promise<number | undefined>;
  /** Slots in use: calls sent and not yet answered. */
  readonly inFlight: number;
  /** Whether another call can be sent. */
  readonly hasRoom: boolean;
  /** Sends a call. What cannot be cloned comes back as an answer. */
  send(call: Call): void;
  /** @returns whether the call had started; one that had not never will */
  cancel(call: Call, reason: CancelReason): boolean;
  /** Takes back a call that has not started. @returns whether it was taken back */
  withdraw(call: Call): boolean;
  /** Whether the call has started, by the cell's word. */
  hasStarted(call: Call): boolean;
  /** The calls sent and not yet answered. */
  calls(): Call[];
  /** Runs the tool's `deactivate`. Rejects when it fails or takes longer than `timeoutMs`. */
  deactivate(timeoutMs: number): Promise<void>;
  /**
   * Gives the cell back; its worker may serve again where that is safe. Never rejects.
   * @param worn its worker has served long enough
   */
  release(worn: boolean): Promise<void>;
  /** Ends the cell by force. Resolves when it has ended, or when it is clear that it cannot be. */
  kill(): Promise<CellEnd>;
  /** Resolves once, however the cell ends. */
  readonly ended: Promise<CellEnd>;
}

/** What a tier needs to start a cell. */
export interface CellRequest<Call extends CellCall> {
  readonly toolName: string;
  readonly source: CellSource;
  readonly grant: Grant;
  readonly activation: ActivationMessage;
  /** Whether the tool vouches that it keeps nothing between calls. */
  readonly stateless: boolean;
  /** Whether the host trusts the tool's code; a worker that served untrusted code serves no more. */
  readonly trusted: boolean;
  readonly observer: CellObserver<Call>;
  /** Ends the start. */
  readonly signal: AbortSignal;
  /** Milliseconds that the start, `activate` included, may take. */
  readonly timeoutMs: number;
}

/** Where a cell finds its tool. */
export type CellSource =
  | { readonly kind: "module"; readonly url: string; readonly codeFiles: readonly string[] }
  | { readonly kind: "object"; readonly implementation: ToolImplementation };

/** What a tier enforces of one part of a grant, and by what. */
export interface Enforcement {
  /** Which part of the grant. */
  readonly subject: "fs.read" | "fs.write" | "host.cwd" | "net" | "spawn" | "env" | "memory" | "cpu";
  /** What is granted, for people. */
  readonly granted: string;
  /** By what it is held; "nothing" where it is not. */
  readonly enforcedBy: string;
  /** Whether it holds against code that means well but errs; the tier's own page says more. */
  readonly holds: boolean;
}

/** One implementation of isolation. */
export interface CellTier {
  readonly tier: IsolationTier;
  /** Whether its cells count against the bound on live cells. */
  readonly bounded: boolean;
  /** Whether it can run a tool of this kind. */
  accepts(source: CellSource): boolean;
  /** Makes the tool ready in a new cell. Rejects with what went wrong; then nothing is left behind. */
  start<Call extends CellCall>(request: CellRequest<Call>): Promise<Cell<Call>>;
  /** Reads the specification that a module brings, in a cell without grants. */
  describe(source: CellSource & { kind: "module" }, timeoutMs: number): Promise<unknown>;
  /** Hears of a tool that will want cells, so that one can be made ready ahead. */
  expect(source: CellSource): void;
  /** Hears that a tool is no longer registered. */
  forget(source: CellSource): void;
  enforcement(grant: Grant): readonly Enforcement[];
  /** Cells that could not be ended and may still hold a core. */
  readonly quarantined: number;
  /** Workers that are up and serve nobody: started ahead, and kept for the tool that they have served. */
  readonly ready: { readonly spare: number; readonly warm: number };
  /** A flag of the host that stands over the heap limits of cells, if there is one. */
  readonly hostHeapFlag: string | undefined;
  /** Ends whatever the tier keeps ready. Never rejects. */
  close(): Promise<void>;
}
