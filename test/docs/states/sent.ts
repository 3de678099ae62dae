/** Ends in the states of a call that was sent to a cell, and has not started there: `dispatch`, `outbound` and `start`. */
import { contextOf } from "../../support/runtimes.js";
import { registerModule } from "../../contract/tier-bed.js";
import { afterReadyWork } from "../../support/outcomes.js";
import { DEATHS, type Death } from "./death.js";
import { endOf } from "./end.js";
import { ending, stopped, type Ending } from "./ending.js";
import { Stage, SUBJECT, type Neighbour, type Stop } from "./stage.js";

const UNTIL_STOPPED = "while (!context.cancellationToken.isCancelled);";
const CALL = { code: "return 1" };

/** A cell whose thread a neighbour holds; told to stop, it does what the script says then. */
export async function held(stage: Stage, then = ""): Promise<Neighbour> {
  const neighbour = await stage.neighbour({ code: `${UNTIL_STOPPED} ${then}` });
  stage.clear.push(() => (neighbour.abort(), neighbour.ended));
  return neighbour;
}

/** Makes a call that waits in a cell which ends on it. */
async function takenBack(stage: Stage, begin: () => void, before: () => void = () => undefined): Promise<Stage> {
  const neighbour = await held(stage, "process.exit(1);");
  begin();
  await afterReadyWork();
  stage.shows("start");
  before();
  neighbour.abort();
  await stage.recorder.cellsEnded(1);
  return stage;
}

async function inDispatch(stop: Stop): Promise<Stage> {
  const stage = new Stage();
  await stage.cell();
  await takenBack(stage, () => stage.begin(stop, CALL));
  stage.shows("dispatch");
  stage.stop();
  return stage;
}

async function withoutCell(mode: "throw" | "hang"): Promise<Stage> {
  const stage = new Stage();
  await stage.cell();
  stage.clear.push(() => stage.mode("ready"));
  await takenBack(
    stage,
    () => stage.call(CALL),
    () => stage.mode(mode),
  );
  stage.shows("dispatch");
  await stage.recorder.logged(`activates: ${mode}`);
  return stage;
}

export const DISPATCH: readonly Ending[] = [
  ending("activation_failed", "ACTIVATION_FAILED", () => withoutCell("throw")),
  ending("activation_failed", "ACTIVATION_TIMED_OUT", async () => {
    const stage = await withoutCell("hang");
    stage.clock.tick(30_000);
    return stage;
  }),
  ending("overloaded", "CELLS_EXHAUSTED", async () => {
    const stage = new Stage({ maxLiveCells: 1 });
    await stage.cell();
    const capability = { stateless: true };
    await registerModule(stage.runtime, "script", { capability, spec: { name: "acme/other" } });
    return takenBack(
      stage,
      () => stage.nest(({ call }) => call(SUBJECT, CALL)),
      // Who waits for the only cell gets it when it comes free.
      () => {
        const other = endOf(stage.runtime.execute("acme/other", CALL, contextOf("other")));
        stage.clear.push(() => other);
      },
    );
  }),
  ...stopped(inDispatch),
];

async function inStart(stop: Stop): Promise<Stage> {
  const stage = new Stage();
  await stage.cell();
  await held(stage);
  stage.begin(stop, CALL);
  await afterReadyWork();
  stage.shows("start");
  stage.stop();
  return stage;
}

/** A call that cannot be moved when its cell ends. */
async function dying({ prepare, capability }: Death): Promise<Stage> {
  const stage = new Stage();
  await stage.cell(capability);
  const { script, follow } = await prepare(stage);
  const neighbour = await held(stage, script);
  const buffer = new ArrayBuffer(8);
  stage.call({ ...CALL, input: buffer }, { transfer: [buffer] });
  await afterReadyWork();
  stage.shows("start");
  neighbour.abort();
  await follow();
  return stage;
}

export const START: readonly Ending[] = [
  ending("invalid_input", "INPUT_NOT_CLONEABLE", async () => {
    const stage = new Stage();
    stage.inline();
    // It cannot be told from an object before it is copied.
    stage.call({ input: new Proxy({}, {}) });
    return stage;
  }),
  ...stopped(inStart),
  ...DEATHS.map((death) => ending(death.outcome, death.code, () => dying(death))),
];
