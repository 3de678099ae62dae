/** One account of a budget: what is reserved, what is spent, and who is stopped when it runs out. */

/** Limits; what is absent is not limited. */
export interface BudgetLimits {
  /** Calls, each attempt and each nested call counted. */
  readonly calls?: number;
  /**
   * Cost, in the host's own unit: what tools report, else their estimate (`capability.cost`). The estimate is reserved
   * when a call is made, so that calls side by side do not spend the same units twice.
   */
  readonly cost?: number;
  /** Milliseconds during which at least one call is open. */
  readonly wallMs?: number;
  /** Milliseconds in which the cells are not idle. Inline tools are not measured. */
  readonly cpuMs?: number;
}

/** What was spent so far, in the units of {@link BudgetLimits}; calls that are open are counted with what they reserved. */
export type Spending = Readonly<Required<BudgetLimits>>;

/** A call as its budget sees it. */
export interface BudgetedCall {
  readonly toolName: string;
  /** What it is thought to cost. */
  readonly estimate: number;
  /** What it has reported. */
  readonly cost: number | undefined;
  /** Whether the tool was reached. */
  readonly reached: boolean;
  interrupt(reason: "budget", detail: string): void;
}

/** A cell whose CPU time counts. */
export interface MeteredCell {
  /** Milliseconds so far; what it came to once the cell has ended. */
  readonly cpuMs: number;
  readonly ended: Promise<unknown>;
}

/** Keeps an account. */
export class BudgetAccount {
  /** For people. */
  readonly whose: string;
  /** The tools that it covers. */
  readonly pattern: string;
  readonly limits: BudgetLimits;
  readonly #open = new Set<BudgetedCall>();
  readonly #cells = new Set<MeteredCell>();
  #calls = 0;
  #cost = 0;
  #held = 0;
  #wallMs = 0;
  #busySince = 0;
  #endedCpuMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(whose: string, pattern: string, limits: BudgetLimits) {
    this.whose = whose;
    this.pattern = pattern;
    this.limits = limits;
  }

  spending(): Spending {
    return { calls: this.#calls, cost: this.#cost + this.#held, wallMs: this.#wall(), cpuMs: this.#cpu() };
  }

  /** Why a call of such an estimate does not fit any more. */
  problem(estimate: number): string | undefined {
    const { calls = Infinity, cost = Infinity } = this.limits;
    if (this.#calls >= calls) return `its ${calls} calls are used up`;
    const left = cost - this.#cost - this.#held;
    // What costs nothing fits into a budget of nothing, but not into one that others have used up.
    if (estimate > left || (left <= 0 && cost > 0)) {
      return `of its ${cost} cost units ${round(Math.max(0, left))} are left and the call is estimated at ${round(estimate)}`;
    }
    return this.#timeProblem();
  }

  open(call: BudgetedCall): void {
    this.#calls++;
    this.#held += call.estimate;
    if (this.#open.size === 0) this.#busySince = performance.now();
    this.#open.add(call);
    this.#watch();
  }

  /** @param before what the call had reported until now */
  reported(call: BudgetedCall, before: number): void {
    if (!this.#open.has(call)) return;
    this.#held += Math.max(call.estimate, call.cost ?? 0) - Math.max(call.estimate, before);
    const { cost = Infinity } = this.limits;
    if (this.#cost + this.#held > cost) call.interrupt("budget", `the ${cost} cost units of ${this.whose} are used up`);
  }

  close(call: BudgetedCall): void {
    if (!this.#open.delete(call)) return;
    this.#held -= Math.max(call.estimate, call.cost ?? 0);
    this.#cost += call.cost ?? (call.reached ? call.estimate : 0);
    // Sums of fractions do not come back to nothing by themselves.
    if (this.#open.size > 0) return;
    this.#held = 0;
    this.#wallMs += performance.now() - this.#busySince;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  meter(cell: MeteredCell): void {
    if (this.limits.cpuMs === undefined) return;
    this.#cells.add(cell);
    // With one more, what is left may be used up sooner.
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#open.size > 0) this.#watch();
    void cell.ended.then(() => {
      this.#cells.delete(cell);
      this.#endedCpuMs += cell.cpuMs;
    });
  }

  #wall(): number {
    return this.#wallMs + (this.#open.size > 0 ? performance.now() - this.#busySince : 0);
  }

  #cpu(): number {
    let sum = this.#endedCpuMs;
    for (const cell of this.#cells) sum += cell.cpuMs;
    return sum;
  }

  #timeProblem(): string | undefined {
    const { wallMs = Infinity, cpuMs = Infinity } = this.limits;
    if (this.#wall() >= wallMs) return `its ${wallMs} ms of wall time are used up`;
    if (this.#cpu() >= cpuMs) return `its ${cpuMs} ms of CPU time are used up`;
    return undefined;
  }

  /** Looks again when the time that is left can be used up at the earliest. */
  #watch(): void {
    const { wallMs = Infinity, cpuMs = Infinity } = this.limits;
    if (this.#timer || (wallMs === Infinity && cpuMs === Infinity)) return;
    const cells = Math.max(1, this.#cells.size);
    const left = Math.min(wallMs - this.#wall(), (cpuMs - this.#cpu()) / cells);
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        const problem = this.#timeProblem();
        if (problem === undefined) this.#watch();
        else for (const call of this.#open) call.interrupt("budget", `of the budget of ${this.whose}, ${problem}`);
      },
      Math.min(Math.max(1, Math.ceil(left)), 2 ** 31 - 1),
    );
  }
}

function round(cost: number): number {
  return Math.round(cost * 1e6) / 1e6;
}
