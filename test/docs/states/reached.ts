/** Ends in the states of a call whose tool was reached: `run`, `inbound` and `close`. */
import { toolError, type ToolContext, type ToolRuntimeOptions, type ToolSpec } from "../../../src/index.js";
import { DEATHS, type Death } from "./death.js";
import { ending, stopped, stoppedAs, type Ending } from "./ending.js";
import { Stage, type Stop } from "./stage.js";

/** A call that runs for ever, and lets others look whether it was told to stop. */
const WATCHED = 'seen.set("token", context.cancellationToken); await new Promise(() => undefined);';
const UNTIL_NEIGHBOUR_STOPPED = 'while (!seen.get("token").isCancelled);';

/** Makes a call whose script holds its thread, is told to stop or not, and ends its cell once its neighbour is told. */
async function dying(
  { prepare, capability }: Death,
  stop: Stop | undefined,
  around: (script: string) => string,
  reached: (stage: Stage) => Promise<unknown>,
): Promise<Stage> {
  const stage = new Stage();
  await stage.cell(capability);
  const { script, follow } = await prepare(stage);
  const neighbour = await stage.neighbour({ code: WATCHED });
  const input = { code: around(`${UNTIL_NEIGHBOUR_STOPPED} ${script}`) };
  if (stop) stage.begin(stop, input);
  else stage.call(input);
  await reached(stage);
  stage.shows("run");
  if (stop) stage.stop();
  neighbour.abort();
  await follow();
  return stage;
}

const inRun = (death: Death, stop?: Stop): Promise<Stage> =>
  dying(
    death,
    stop,
    (script) => script,
    (stage) => stage.started(),
  );

/** What is answered leaves the cell only when no microtask is left. */
const inInbound = (death: Death, stop?: Stop): Promise<Stage> =>
  dying(
    death,
    stop,
    (script) => `
      const beside = async () => {
        for (let turn = 0; turn < 100; turn++) await undefined;
        context.log.info("answered");
        ${script}
      };
      void beside();
      return 1;`,
    (stage) => stage.recorder.logged("answered"),
  );

const deathsIn = (play: (death: Death, stop?: Stop) => Promise<Stage>): Ending[] =>
  DEATHS.flatMap((death) => [
    ending(death.outcome, death.code, () => play(death)),
    ...stoppedAs(death.outcome, (stop) => play(death, stop)),
  ]);

/** An inline tool that does not stop cannot be ended. */
const abandoned = async (stop: Stop): Promise<Stage> => {
  const stage = new Stage();
  stage.inline({ execute: () => new Promise(() => undefined) });
  stage.begin(stop);
  await stage.started();
  stage.shows("run");
  stage.stop();
  stage.graceEnds();
  return stage;
};

export const RUN: readonly Ending[] = [
  ...deathsIn(inRun).filter(({ outcome, code }) => outcome !== "unsettled" || code === "CELL_KILLED"),
  ...stoppedAs("unsettled", abandoned),
];

export const INBOUND: readonly Ending[] = deathsIn(inInbound);

/** A call that its tool answers. */
const answered = async (
  execute: (input: unknown, context: ToolContext) => unknown,
  options: ToolRuntimeOptions = {},
  spec: Partial<ToolSpec> = {},
): Promise<Stage> => {
  const stage = new Stage(options);
  stage.inline({ execute }, {}, spec);
  stage.call();
  return stage;
};

const obeying = (_input: unknown, { cancellationToken: { signal } }: ToolContext): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });

export const CLOSE: readonly Ending[] = [
  ending("ok", undefined, () => answered(() => "output")),
  ending("tool_error", undefined, () => answered(() => toolError({ code: "OWN", message: "no" }))),
  ending("invalid_output", "SCHEMA_VALIDATION_FAILED", () =>
    answered(() => "text", {}, { outputSchema: { type: "number" } }),
  ),
  ending("threw", "EXECUTION_FAILED", () =>
    answered(() => {
      throw new Error("as it is");
    }),
  ),
  ending("threw", "RESULT_TOO_LARGE", () => answered(() => "x".repeat(1_000), { maxResultBytes: 100 })),
  ending("threw", "RESULT_NOT_CLONEABLE", () => answered(() => () => undefined)),
  ...stopped(async (stop) => {
    const stage = new Stage();
    stage.inline({ execute: obeying });
    stage.begin(stop);
    await stage.started();
    stage.stop();
    return stage;
  }),
  ending("crashed", "CELL_CRASHED", async () => {
    const stage = new Stage();
    await stage.cell();
    const code = 'setImmediate(() => { throw new TypeError("beside"); }); await new Promise(() => undefined);';
    stage.call({ code });
    return stage;
  }),
];
