/**
 * Takes over the worker's stdout and stderr: what a tool prints becomes log events and never
 * reaches the host's streams, which may carry a protocol.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import type { LogLevel } from "../src/protocol/tool.js";

/** Receives what was printed, a line or more at a time, without the final newline. */
export type OutputSink = (level: LogLevel, text: string) => void;

let sink: OutputSink | undefined;
let taken = false;

/** Sends output to `next` from now on. */
export function sendOutputTo(next: OutputSink | undefined): void {
  sink = next;
  if (taken) return;
  taken = true;
  takeStream(process.stdout, "info");
  takeStream(process.stderr, "warn");
  takeDescriptors();
}

function print(level: LogLevel, chunk: unknown): void {
  const text = typeof chunk === "string" ? chunk : Buffer.from(chunk as Uint8Array).toString("utf8");
  if (text !== "") sink?.(level, text.endsWith("\n") ? text.slice(0, -1) : text);
}

function takeStream(stream: NodeJS.WriteStream, level: LogLevel): void {
  const write = (...args: unknown[]): boolean => {
    const [chunk] = args;
    if (chunk !== undefined && chunk !== null && typeof chunk !== "function") print(level, chunk);
    const done = args.find((arg) => typeof arg === "function");
    if (done) queueMicrotask(done as () => void);
    return true;
  };
  const end = (...args: unknown[]): NodeJS.WriteStream => {
    write(...args);
    return stream;
  };
  for (const [name, value] of [
    ["write", write],
    ["end", end],
    ["_write", write],
    ["_writev", undefined],
  ] as const) {
    Object.defineProperty(stream, name, { value, writable: false, configurable: false });
  }
}

type AnyFunction = (...args: unknown[]) => unknown;

const LEVELS: readonly (LogLevel | undefined)[] = [undefined, "info", "warn"];

/** Loggers write to descriptors 1 and 2 directly; these are the host's, and permissions do not cover them. */
function takeDescriptors(): void {
  const target = fs as unknown as Record<string, AnyFunction>;
  const wrap = (name: string, instead: (level: LogLevel, args: unknown[]) => unknown): void => {
    const original = target[name];
    if (!original) return;
    target[name] = (...args) => {
      const level = LEVELS[args[0] as number];
      return level ? instead(level, args) : original.apply(fs, args);
    };
  };
  const written = (level: LogLevel, data: unknown): number => {
    const parts = Array.isArray(data) ? (data as unknown[]) : [data];
    let bytes = 0;
    for (const part of parts) {
      print(level, part);
      bytes += typeof part === "string" ? Buffer.byteLength(part) : (part as Uint8Array).byteLength;
    }
    return bytes;
  };
  const later = (level: LogLevel, args: unknown[]): void => {
    const bytes = written(level, args[1]);
    const done = args.at(-1);
    if (typeof done === "function") setImmediate(done as AnyFunction, null, bytes, args[1]);
  };
  for (const name of ["writeSync", "writevSync", "appendFileSync", "writeFileSync"]) {
    wrap(name, (level, args) => written(level, args[1]));
  }
  for (const name of ["write", "writev", "appendFile", "writeFile"]) wrap(name, later);
  // Closing them would close the host's.
  wrap("closeSync", () => undefined);
  wrap("close", (_level, args) => {
    const done = args.at(-1);
    if (typeof done === "function") setImmediate(done as AnyFunction, null);
  });
  syncBuiltinESMExports();
}
