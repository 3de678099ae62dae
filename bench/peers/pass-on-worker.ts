/** A bare thread that hands a buffer on as the tool does. */
import { parentPort } from "node:worker_threads";

parentPort?.on("message", ({ data }: { data: ArrayBuffer }) => {
  const bytes = new Uint8Array(data);
  bytes[0] = ((bytes[0] ?? 0) + 1) & 0xff;
  parentPort?.postMessage({ data }, [data]);
});
