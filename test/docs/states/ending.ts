/** A call's end in one state, and how to bring it about. */
import type { Outcome } from "../../../src/index.js";
import { STOPS, type Stage, type Stop } from "./stage.js";

/** How a call comes to an end. */
export interface Ending {
  readonly outcome: Outcome;
  /** None for a success, and where the code is the tool's own. */
  readonly code?: string;
  /** Makes the call, sees it in its state where it stays there, and brings about its end. */
  play(): Promise<Stage>;
}

/** An end of a code. */
export function ending(outcome: Outcome, code: string | undefined, play: () => Promise<Stage>): Ending {
  return { outcome, ...(code !== undefined && { code }), play };
}

/** The ends by what a call is told, for a state that it leaves as soon as it is told. */
export function stopped(play: (stop: Stop) => Promise<Stage>, stops: readonly Stop[] = STOPS): Ending[] {
  return stops.map((stop) => ending(stop === "TIMED_OUT" ? "timed_out" : "cancelled", stop, () => play(stop)));
}

/** An end of an outcome of its own, by what the call was told before. */
export function stoppedAs(outcome: Outcome, play: (stop: Stop) => Promise<Stage>): Ending[] {
  return STOPS.map((stop) => ending(outcome, stop, () => play(stop)));
}
