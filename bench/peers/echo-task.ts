/** Tasks for a pool that calls the functions of a module: Piscina and tinypool. */
export { hang } from "./hang.js";

/** Gives back what it gets. */
export default function echo(value: unknown): unknown {
  return value;
}
