/** A bare thread that does what the busy tool does, one message after the other. */
import { parentPort } from "node:worker_threads";
import { execute, type Work } from "../tools/work.js";

parentPort?.on("message", (work: Work) => parentPort?.postMessage(execute(work)));
