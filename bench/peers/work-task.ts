/** A Piscina task that does what the busy tool does. */
export { execute as default } from "../tools/work.js";
