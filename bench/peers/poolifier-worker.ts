/** What poolifier's thread serves. */
import { ThreadWorker } from "poolifier";
import { hang } from "./hang.js";

export default new ThreadWorker({
  echo: (value: unknown) => value,
  hang: (running: unknown) => hang(running as Int32Array),
});
