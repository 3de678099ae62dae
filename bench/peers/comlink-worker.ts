/** What a thread behind comlink serves. */
import { workerData } from "node:worker_threads";
import { expose, transfer } from "comlink";
import { hang } from "./hang.js";

/** The functions that can be called from the other side. */
const service = {
  echo: (value: unknown): unknown => value,
  passOn: (data: ArrayBuffer): ArrayBuffer => transfer(data, [data]),
  hang,
};
export type Service = typeof service;

expose(service, workerData);
