/** What a worker is started with: flags, environment and limits, derived from a grant. */
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ToolActivationError } from "../../protocol/errors.js";
import type { ConfinementMessage } from "../../protocol/lease.js";
import type { Enforcement } from "../../runtime/cell.js";
import { realPath, type Grant } from "../../runtime/grant.js";
import { nodeFacts, type NodeFacts } from "./node-facts.js";

/** The bundled entry of every worker. */
export const HOST_FILE = realPath(fileURLToPath(new URL("../../../workers/host.cjs", import.meta.url)));

/** `file:` URL of the tool that a spare rehearses with. */
export const STAND_IN = pathToFileURL(realPath(join(dirname(HOST_FILE), "stand-in.js"))).href;

const PISCINA_FOLDER = realPath(dirname(createRequire(import.meta.url).resolve("piscina")));
const facts = nodeFacts();

/** What a worker is started with; two profiles with one key grant the same. */
export interface WorkerProfile {
  /** Equal where everything but the code that may be read is equal. */
  readonly key: string;
  /** Files and folders of code that may be read. */
  readonly code: ReadonlySet<string>;
  readonly execArgv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly resourceLimits: { readonly maxOldGenerationSizeMb: number };
  readonly confinement: ConfinementMessage;
}

/**
 * Derives a profile.
 * @throws ToolActivationError where a path cannot be granted
 */
export function workerProfile(grant: Grant, code: ReadonlySet<string>, node: NodeFacts = facts): WorkerProfile {
  const data = outermost(grant.read);
  const write = outermost(grant.write);
  const readable = outermost([HOST_FILE, PISCINA_FOLDER, ...code, ...data]);
  const net = grant.net !== false;
  for (const path of [...readable, ...write]) {
    if (!isGrantable(path)) {
      throw new ToolActivationError(
        `the path "${path}" cannot be granted: Node's permission flags read "*" as a wildcard`,
      );
    }
  }
  const coverage = process.env.NODE_V8_COVERAGE;
  return {
    key: JSON.stringify([data, write, net, grant.spawn, grant.env, grant.memoryMb]),
    code,
    execArgv: [
      node.permissionFlag,
      "--no-warnings",
      ...readable.map((path) => `--allow-fs-read=${path}`),
      ...write.map((path) => `--allow-fs-write=${path}`),
      ...(coverage !== undefined ? inheritedFlags() : []),
      ...(net && node.holdsNetwork ? ["--allow-net"] : []),
      ...(grant.spawn ? ["--allow-child-process"] : []),
    ],
    env: { ...grant.env, ...(coverage !== undefined && { NODE_V8_COVERAGE: coverage }) },
    resourceLimits: { maxOldGenerationSizeMb: grant.memoryMb },
    confinement: { dropCurrentDirectory: droppable(data, node), net, spawn: grant.spawn },
  };
}

/** Whether Node's flags can name a path: they have no way to write a literal asterisk. */
export function isGrantable(path: string): boolean {
  return !path.includes("*");
}

/** Coverage of a permissioned worker needs the inspector, which its collector asks for by a flag of the host. */
function inheritedFlags(): string[] {
  return process.execArgv.filter((flag) => flag === "--allow-inspector");
}

/** Node 20 aborts where a folder and what lies in it are granted both. */
function outermost(paths: readonly string[]): string[] {
  // With the separator lowest, a folder is followed at once by all that lies in it.
  const key = (path: string): string => path.replaceAll(sep, "\0");
  const sorted = [...new Set(paths)]
    .map((path) => [key(path), path] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const kept: string[] = [];
  for (const [, path] of sorted) {
    const last = kept.at(-1);
    if (last === undefined || !contains(last, path)) kept.push(path);
  }
  return kept;
}

function contains(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The host's current directory, where it is to be taken away and can be. */
function droppable(granted: readonly string[], node: NodeFacts): string | undefined {
  if (!node.grantsCurrentDirectory || !node.canDropCurrentDirectory) return undefined;
  const current = process.cwd();
  const wanted = granted.some((path) => path === current || contains(path, current));
  return wanted ? undefined : current;
}

/** What a worker holds of a grant, and by what. */
export function threadEnforcement(grant: Grant, node: NodeFacts = facts): readonly Enforcement[] {
  // A program that the tool starts has none of the worker's limits.
  const programs = grant.spawn ? "; nothing holds a program that the tool starts" : "";
  const flags = "Node permission flags";
  const database = node.databaseEscapes ? "; but node:sqlite goes past them" : "; node:sqlite is refused";
  const files = `${flags}${database}${programs}`;
  const filesHeld = !node.databaseEscapes && !grant.spawn;
  const paths = (list: readonly string[]): string => (list.length > 0 ? list.join(", ") : "nothing");
  const netGranted = grant.net === true ? "every host" : grant.net === false ? "nothing" : grant.net.join(", ");
  const netHeld = grant.net === false && (node.holdsNetwork || node.guardsModules) && !grant.spawn;
  return [
    {
      subject: "fs.read",
      granted: `${paths(grant.read)}; the tool's own code`,
      enforcedBy: files,
      holds: filesHeld,
    },
    { subject: "fs.write", granted: paths(grant.write), enforcedBy: files, holds: filesHeld },
    currentDirectory(grant, node, programs),
    {
      subject: "net",
      granted: netGranted,
      enforcedBy:
        grant.net !== false
          ? grant.net === true
            ? "nothing to hold"
            : "nothing: this tier cannot tell hosts apart"
          : node.holdsNetwork
            ? `${flags}${programs}`
            : node.guardsModules
              ? `a guard on built-in modules, for code that means well${programs}`
              : "nothing but the removal of fetch: this Node cannot refuse built-in modules",
      holds: grant.net === true || netHeld,
    },
    { subject: "spawn", granted: grant.spawn ? "any program" : "nothing", enforcedBy: flags, holds: true },
    {
      subject: "env",
      granted: Object.keys(grant.env).join(", ") || "nothing",
      enforcedBy: "an environment of its own",
      holds: true,
    },
    {
      subject: "memory",
      granted: `${grant.memoryMb} MiB of V8 heap`,
      enforcedBy: node.hostHeapFlag
        ? `nothing: the host's ${node.hostHeapFlag} stands over it`
        : "V8's heap limit; buffers are outside it, and some allocations abort the whole process",
      holds: false,
    },
    {
      subject: "cpu",
      granted: "the call's deadline",
      enforcedBy: grant.spawn
        ? "terminating the thread; a program that the tool started goes on"
        : "terminating the thread; native loops cannot be ended",
      holds: !grant.spawn,
    },
  ];
}

/** What a worker may read of the host's current directory, which some Nodes give it unasked. */
function currentDirectory(grant: Grant, node: NodeFacts, programs: string): Enforcement {
  const current = process.cwd();
  const lent = grant.read.find((path) => path === current || contains(path, current));
  if (lent !== undefined) {
    return { subject: "host.cwd", granted: `all of it, by ${lent}`, enforcedBy: "nothing to hold", holds: true };
  }
  const inside = grant.read.filter((path) => contains(current, path));
  const unasked = node.grantsCurrentDirectory && !node.canDropCurrentDirectory;
  return {
    subject: "host.cwd",
    granted: inside.length > 0 ? inside.join(", ") : "nothing",
    enforcedBy: unasked
      ? "nothing: this Node lets a worker read the host's current directory"
      : `${node.grantsCurrentDirectory ? "process.permission.drop" : "Node permission flags"}${programs}`,
    holds: !unasked && !grant.spawn,
  };
}
