/** A tinypool task that hands a buffer on. */
import { Tinypool } from "tinypool";

/** @returns the buffer, to be handed over */
export default function passOn(data: ArrayBuffer): unknown {
  return Tinypool.move(data);
}
