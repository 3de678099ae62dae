/** What workerpool's thread serves. */
import workerpool from "workerpool";
import { hang } from "./hang.js";

workerpool.worker({
  echo: (value: unknown) => value,
  passOn: (data: ArrayBuffer) => new workerpool.Transfer(data, [data]),
  hang,
});
