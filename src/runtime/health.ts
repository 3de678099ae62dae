/** How a runtime is, for a health route. */
import type { Admission } from "./admission.js";
import type { CallMeter } from "./call-meter.js";
import type { CellSupply } from "./cell-supply.js";
import type { Tiers } from "./gates.js";
import type { Plans } from "./plans.js";

/** Why a runtime is not simply well. */
export interface HealthReason {
  /** What kind of thing it is. */
  readonly code: "CLOSING" | "CELLS_QUARANTINED" | "CELLS_PINNED" | "HEAP_LIMIT_OVERRIDDEN" | "RSS_ABOVE_MARK";
  /** What is the matter and what to do about it, for people. */
  readonly message: string;
}

/** How a runtime is. */
export interface RuntimeHealth {
  /** `degraded`: it serves, but somebody should look. `closing`: it takes no calls any more. */
  readonly status: "ok" | "degraded" | "closing";
  /** Empty where the status is `ok`. */
  readonly reasons: readonly HealthReason[];
  /** Calls that are not over. */
  readonly openCalls: number;
  /** Calls that wait for a turn. */
  readonly queuedCalls: number;
  /** Calls that wait for a cell. */
  readonly waitingCalls: number;
  /** Plans in use. */
  readonly openPlans: number;
  /** Cells that count against the limit. */
  readonly liveCells: number;
  /** The limit. */
  readonly maxLiveCells: number;
  /** Cells that could not be ended. */
  readonly quarantinedCells: number;
  /** Memory of the whole process that is in RAM, in MiB. */
  readonly rssMb: number;
}

/** Who is asked. */
export interface Examined {
  readonly closing: boolean;
  /** MiB; nothing is said of memory where there is no mark. */
  readonly maxRssMb: number | undefined;
  readonly calls: CallMeter;
  readonly admission: Admission;
  readonly supply: CellSupply;
  readonly plans: Plans;
  readonly tiers: Tiers;
}

const MIB = 1024 * 1024;

/** Looks at a runtime. */
export function healthOf({ closing, maxRssMb, calls, admission, supply, plans, tiers }: Examined): RuntimeHealth {
  const quarantinedCells = tiers.reduce((sum, { quarantined }) => sum + quarantined, 0);
  const heapFlag = tiers.find(({ hostHeapFlag }) => hostHeapFlag !== undefined)?.hostHeapFlag;
  const rssMb = Math.round(process.memoryUsage.rss() / MIB);
  const reasons: HealthReason[] = [];
  if (closing) reasons.push({ code: "CLOSING", message: "The runtime is closing or closed and takes no calls." });
  if (quarantinedCells > 0) {
    const what = quarantinedCells === 1 ? "1 cell" : `${quarantinedCells} cells`;
    reasons.push({
      code: "CELLS_QUARANTINED",
      message: `${what} could not be ended and may hold a core each; only an end of the process frees them.`,
    });
  }
  if (supply.waiting > 0 && supply.pinned >= supply.limit) {
    reasons.push({
      code: "CELLS_PINNED",
      message:
        `All ${supply.limit} cells belong to tools that keep state, and calls wait for one: ` +
        `end plans, raise maxLiveCells, or declare tools stateless.`,
    });
  }
  if (heapFlag !== undefined) {
    reasons.push({
      code: "HEAP_LIMIT_OVERRIDDEN",
      message: `The host's ${heapFlag} stands over memoryMb: the heap of a cell is not held by its own limit.`,
    });
  }
  if (maxRssMb !== undefined && rssMb > maxRssMb) {
    reasons.push({
      code: "RSS_ABOVE_MARK",
      message: `The process has ${rssMb} MiB in memory, more than its mark of ${maxRssMb} MiB.`,
    });
  }
  return {
    status: closing ? "closing" : reasons.length > 0 ? "degraded" : "ok",
    reasons,
    openCalls: calls.made - calls.over,
    queuedCalls: admission.waiting,
    waitingCalls: plans.waitingCalls,
    openPlans: plans.count,
    liveCells: supply.live,
    maxLiveCells: supply.limit,
    quarantinedCells,
    rssMb,
  };
}
