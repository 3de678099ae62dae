/** What a figure was measured on. */
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

/** Facts of the machine that figures depend on. */
export interface MachineFacts {
  readonly node: string;
  readonly v8: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  /** Load average of the last minute, before the benchmark. */
  readonly load: number;
}

/** Cores that this process may use. */
export const cores = availableParallelism();

/** Gathers the facts. */
export function machineFacts(): MachineFacts {
  return {
    node: process.versions.node,
    v8: process.versions.v8,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    load: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}

/** The facts in one line. */
export function machineLine({ node, platform, cpu, cores: count, memoryGb, load }: MachineFacts): string {
  return `Node ${node}, ${platform}, ${cpu}, ${count} cores, ${memoryGb} GB, load ${load}`;
}
