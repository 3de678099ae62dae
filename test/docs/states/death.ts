/** Ways in which a cell ends under its calls. */
import type { Outcome, ToolCapability } from "../../../src/index.js";
import { Blocker } from "./blocker.js";
import type { Stage } from "./stage.js";

/** A way to end. */
export interface Death {
  readonly outcome: Outcome;
  /** Of a call that nobody told to stop. */
  readonly code: string;
  readonly capability: ToolCapability;
  prepare(stage: Stage): Promise<PreparedDeath>;
}

/** One that a scenario can bring about. */
export interface PreparedDeath {
  /** Statements of a script that begin it. */
  readonly script: string;
  /** Ends the grace of a call that was told to stop, where the cell does not end by itself. */
  follow(): Promise<void>;
}

const byItself = (script: string) => (): Promise<PreparedDeath> =>
  Promise.resolve({ script, follow: () => Promise.resolve() });

/** Each way. */
export const DEATHS: readonly Death[] = [
  {
    outcome: "killed",
    code: "CELL_KILLED",
    capability: {},
    prepare: async (stage) => ({ script: "for (;;);", follow: async () => stage.graceEnds() }),
  },
  { outcome: "crashed", code: "CELL_CRASHED", capability: {}, prepare: byItself("process.exit(1);") },
  {
    outcome: "out_of_memory",
    code: "OUT_OF_MEMORY",
    capability: { memoryMb: 32 },
    prepare: byItself("let hoard; for (let index = 0; ; index++) hoard = { index, hoard };"),
  },
  {
    outcome: "unsettled",
    code: "CELL_KILLED",
    capability: { spawn: true, net: true },
    prepare: async (stage) => {
      const blocker = await Blocker.open();
      stage.clear.push(() => blocker.letGo());
      const follow = async (): Promise<void> => {
        await blocker.holds;
        stage.graceEnds();
        stage.killTimesOut();
      };
      return { script: blocker.code, follow };
    },
  },
];
