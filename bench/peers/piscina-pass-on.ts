/** A Piscina task that hands a buffer on. */
import { move } from "piscina";

/** @returns the buffer, to be handed over */
export default function passOn(data: ArrayBuffer): unknown {
  return move(data);
}
