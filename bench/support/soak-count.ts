/** What a process holds at one moment of a soak, and whether it grew. */
import { readdirSync } from "node:fs";
import type { ToolRuntime } from "../../src/index.js";
import { median } from "./statistics.js";

const MB = 1024 * 1024;

/** One count. */
export class SoakCount {
  readonly plans: number;
  readonly heapMb = round(process.memoryUsage().heapUsed / MB);
  readonly externalMb = round(process.memoryUsage().external / MB);
  readonly rssMb = round(process.memoryUsage.rss() / MB);
  readonly threads = threadCount();
  readonly handles = process.getActiveResourcesInfo().length;
  readonly listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  readonly planCount: number;

  constructor(plans: number, planCount: number) {
    this.plans = plans;
    this.planCount = planCount;
  }

  line(): string {
    const { plans, heapMb, externalMb, rssMb, threads, handles, listeners, planCount } = this;
    return (
      `${String(plans).padStart(7)} plans: heap ${heapMb} MB, external ${externalMb} MB, resident ${rssMb} MB, ` +
      `${threads} threads, ${handles} handles, ${listeners} listeners, ${planCount} plans in the cache`
    );
  }
}

/** Counts now. */
export function countOf(runtime: ToolRuntime, plans: number): SoakCount {
  return new SoakCount(plans, runtime.cache.planCount);
}

/** How one of the figures went. */
export interface Growth {
  readonly what: string;
  /** Median of the first counts. */
  readonly from: number;
  /** Median of the last counts. */
  readonly to: number;
  readonly atMost: number;
  readonly holds: boolean;
}

/** By what a figure may be above where it was, before that is called growth. */
const ROOM = {
  heapMb: (from: number) => from * 1.15 + 3,
  externalMb: (from: number) => from * 1.15 + 3,
  // The allocator gives pages back when it likes.
  rssMb: (from: number) => from * 1.3 + 40,
  // Workers that wait for their next lease come and go.
  threads: (from: number) => from + 4,
  handles: (from: number) => from + 8,
  listeners: (from: number) => from,
  planCount: (from: number) => from,
} as const;

/** Compares the first quarter of the counts with the last. */
export function growthOf(counts: readonly SoakCount[]): Growth[] {
  const quarter = Math.max(1, Math.floor(counts.length / 4));
  return Object.entries(ROOM).map(([what, room]) => {
    const of = (some: readonly SoakCount[]): number => median(some.map((count) => count[what as keyof typeof ROOM]));
    const [from, to] = [of(counts.slice(0, quarter)), of(counts.slice(-quarter))];
    const atMost = round(room(from));
    return { what, from, to, atMost, holds: to <= atMost };
  });
}

/** Threads of the process, where the system tells. */
function threadCount(): number {
  try {
    return readdirSync("/proc/self/task").length;
  } catch {
    return 0;
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
