/** Grant = capability as registered ∩ context. Gates answer from it and cells are limited by it. */
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { BoundResource, ResolvedCapability } from "../protocol/tool.js";
import type { ToolExecutionContext } from "./execution-context.js";

/** What one activation may touch. Paths are absolute and real. */
export interface Grant {
  readonly readOnly: boolean;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly net: boolean | readonly string[];
  readonly spawn: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** MiB of V8 heap. */
  readonly memoryMb: number;
}

/** A grant together with the resources that the tool gets to see. */
export interface GrantedResources {
  readonly grant: Grant;
  readonly resources: readonly BoundResource[];
}

/** A grant without anything, for reading a module's specification. */
export function emptyGrant(memoryMb: number): Grant {
  return { readOnly: true, read: [], write: [], net: false, spawn: false, env: {}, memoryMb };
}

/** Derives what a tool gets in a plan. A slot that its capability does not name stays hidden. */
export function grantFor(
  capability: ResolvedCapability,
  context: ToolExecutionContext,
  memoryMb: number,
): GrantedResources {
  const readSlots = new Set([...capability.fs.read, ...capability.fs.write]);
  const writeSlots = new Set(capability.fs.write);
  const resources: BoundResource[] = [];
  const read: string[] = [];
  const write: string[] = [];
  for (const resource of context.boundResources) {
    if (!readSlots.has(resource.slotName)) continue;
    const writable = !context.readOnly && resource.access === "read_write" && writeSlots.has(resource.slotName);
    const path = resource.path === undefined ? undefined : realPath(resource.path);
    resources.push({ ...resource, access: writable ? "read_write" : "read_only", ...(path !== undefined && { path }) });
    if (path === undefined) continue;
    read.push(path);
    if (writable) write.push(path);
  }
  return {
    resources,
    grant: {
      readOnly: write.length === 0,
      read,
      write,
      net: capability.net,
      spawn: capability.spawn,
      env: capability.env,
      memoryMb: capability.memoryMb ?? memoryMb,
    },
  };
}

/** Resolves links; of a path that does not exist yet, those of the part that does. */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}
