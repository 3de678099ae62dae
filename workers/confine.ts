/**
 * Rules that a worker lays on itself before any tool code is loaded. Node's permission flags
 * hold files, processes and addons; what is here closes, for honest code, what the flags leave open.
 */
import * as nodeModule from "node:module";
import v8 from "node:v8";
import { MessagePort } from "node:worker_threads";
import type { ConfinementMessage } from "../src/protocol/lease.js";

const NET_MODULES = [
  ...["net", "tls", "http", "https", "http2", "dgram", "dns", "dns/promises"],
  ...["_http_agent", "_http_client", "_http_common", "_http_incoming", "_http_outgoing", "_http_server"],
  ...["_tls_common", "_tls_wrap"],
];
/** These reach the whole process, or files past the permission flags, whatever the flags say. */
const HOST_MODULES = ["sqlite", "inspector", "inspector/promises", "v8", "cluster", "trace_events", "repl", "wasi"];
const NET_GLOBALS = ["fetch", "WebSocket", "EventSource"];

interface ResolvedModule {
  url: string;
}
type Resolve = (specifier: string, context: unknown) => ResolvedModule;
interface ModuleWithHooks {
  registerHooks?: (hooks: { resolve(specifier: string, context: unknown, next: Resolve): ResolvedModule }) => unknown;
}
interface Permission {
  drop?(scope: string, reference?: string): void;
}

let confined = false;

/** Confines this worker, once; a worker serves one profile all its life. */
export function confine(rules: ConfinementMessage): void {
  if (confined) return;
  confined = true;
  if (rules.dropCurrentDirectory !== undefined) {
    const permission = (process as { permission?: Permission }).permission;
    permission?.drop?.("fs.read", rules.dropCurrentDirectory);
  }
  const refused = new Set(HOST_MODULES);
  if (!rules.net) for (const name of NET_MODULES) refused.add(name);
  if (!rules.spawn) refused.add("child_process");
  guardModules(refused);
  for (const name of [
    "kill",
    "binding",
    "_linkedBinding",
    "dlopen",
    "getBuiltinModule",
    "_rawDebug",
    "_debugProcess",
  ]) {
    replace(process, name, () => {
      throw denied(`process.${name}`);
    });
  }
  // These would hand out the ports that the cell is spoken to by, Piscina's among them.
  for (const name of ["_getActiveHandles", "_getActiveRequests"]) replace(process, name, () => []);
  Object.freeze(MessagePort.prototype);
  replace(process, "report", undefined);
  if (rules.net) return;
  for (const name of NET_GLOBALS) {
    replace(globalThis, name, function () {
      throw denied(`${name} (capability: { net: true } at registration grants it)`);
    });
  }
}

function guardModules(refused: ReadonlySet<string>): void {
  const { registerHooks } = nodeModule as ModuleWithHooks;
  registerHooks?.({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      if (resolved.url.startsWith("node:") && refused.has(resolved.url.slice(5)))
        throw denied(`${resolved.url}${hintOn(resolved.url)}`);
      return resolved;
    },
  });
  if (registerHooks) return;
  // V8's switches are those of the whole process. Other modules stay open where none can be refused.
  for (const name of ["setFlagsFromString", "setHeapSnapshotNearHeapLimit"]) {
    replace(v8, name, () => {
      throw denied(`v8.${name}`);
    });
  }
  nodeModule.syncBuiltinESMExports();
}

/** What would grant a module. */
function hintOn(url: string): string {
  const name = url.slice("node:".length);
  const capability = name === "child_process" ? "spawn" : NET_MODULES.includes(name) ? "net" : undefined;
  return capability === undefined ? "" : ` (capability: { ${capability}: true } at registration grants it)`;
}

function denied(what: string): Error {
  return Object.assign(new Error(`Access to ${what} is not granted to this tool's cell`), {
    code: "ERR_ACCESS_DENIED",
  });
}

function replace(target: object, name: string, value: unknown): void {
  if (!(name in target)) return;
  Object.defineProperty(target, name, { value, writable: false, configurable: false, enumerable: false });
}
