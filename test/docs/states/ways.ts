/** Ways of calls from state to state, forward and back. */
import { executeChannel, MemoryApprovals, type ExecuteMessage, type Outcome } from "../../../src/index.js";
import { registerModule } from "../../contract/tier-bed.js";
import { afterReadyWork, deferred } from "../../support/outcomes.js";
import { contextOf, registerMock } from "../../support/runtimes.js";
import { endOf } from "./end.js";
import { held } from "./sent.js";
import { isSubject, Stage, SUBJECT } from "./stage.js";

/** A call that was seen on its way. */
export interface Seen {
  readonly stage: Stage;
  /** What `calls()` said, each time it said something new. */
  readonly shown: readonly string[];
}

/** A call that went back. */
export interface Back {
  readonly stage: Stage;
  readonly from: string;
  readonly to: string;
  /** How each attempt ended, by its number. */
  readonly attempts: readonly (readonly [number, Outcome])[];
}

/** Lets a call wait in every state, and be moved once. */
export async function journey(): Promise<Seen> {
  const approvals = new MemoryApprovals();
  const stage = new Stage({ approvals, maxActiveCalls: 1, maxLiveCells: 1, outputValidation: "warn" });
  const { runtime, recorder } = stage;
  await stage.cell({ requiresApproval: true }, { outputSchema: { type: "string" } });
  const shown: string[] = [];
  const look = (): void => {
    const phase = runtime.calls().find(isSubject)?.phase;
    if (phase && phase !== shown.at(-1)) shown.push(phase);
  };
  const approve = async (): Promise<void> => {
    for (const { approvalId } of approvals.pending()) approvals.decide(approvalId, { approved: true });
    await afterReadyWork();
  };
  // Others hold the only cell, and then the only turn.
  await registerModule(runtime, "script", { spec: { name: "acme/other" } });
  await runtime.activate("acme/other", contextOf("others"));
  const controller = new AbortController();
  const code = "while (!context.cancellationToken.isCancelled); process.exit(1);";
  const { signal } = controller;
  const neighbour = endOf(runtime.execute(SUBJECT, { code }, stage.context, { signal, callId: "neighbour" }));
  await approve();
  const go = await stage.holder("third");
  const running = deferred();
  registerMock(runtime, "acme/inner", { execute: () => running.promise });

  const forget = onStart(look);
  stage.call({ code: 'await context.call("acme/inner", {}); return 1;' });
  forget();
  look();
  await approve();
  look();
  await go();
  await afterReadyWork();
  look();
  await runtime.deactivatePlan("others");
  await stage.started("neighbour");
  look();
  controller.abort();
  await neighbour;
  look();
  // It passes `start` so soon that only what its new cell tells at once can show it.
  runtime.on("cell", () => queueMicrotask(look));
  await stage.started();
  look();
  runtime.on("warning", look);
  running.resolve();
  await recorder.warned("INVALID_OUTPUT");
  return { stage, shown };
}

/** Hears of calls in the moment in which they are made. */
function onStart(hear: () => void): () => void {
  const start = ({ toolName }: ExecuteMessage): void => {
    if (toolName === SUBJECT) hear();
  };
  const none = (): void => undefined;
  const subscribers = { start, end: none, asyncStart: none, asyncEnd: none, error: none };
  executeChannel.subscribe(subscribers);
  return () => executeChannel.unsubscribe(subscribers);
}

/** Lets a call go back once, by the name of the way. */
export const BACK: Readonly<Record<string, () => Promise<Back>>> = {
  moved: async () => {
    const stage = new Stage();
    await stage.cell();
    const neighbour = await held(stage, "process.exit(1);");
    stage.call({ code: "return 1" });
    await afterReadyWork();
    stage.shows("start");
    neighbour.abort();
    await stage.recorder.cellsEnded(1);
    stage.shows("dispatch");
    return { stage, from: "start", to: "dispatch", attempts: [[1, "ok"]] };
  },
  "made again": async () => {
    const stage = new Stage();
    const seen: (string | undefined)[] = [];
    stage.inline({
      execute: (_input, { attempt }) => {
        if (attempt === 1) throw new Error("not yet");
        return 1;
      },
    });
    const forget = onStart(() => seen.push(stage.runtime.calls().find(isSubject)?.phase));
    stage.call({}, { retry: { attempts: 2, delayMs: 1_000 } });
    await stage.started();
    await afterReadyWork();
    // Between two attempts there is no call.
    seen.push(...stage.runtime.calls().map(({ phase }) => phase));
    // A wait is at most twice as long as it is asked to be.
    await stage.clock.tickAsync(2_000);
    await stage.end;
    forget();
    return {
      stage,
      from: "close",
      to: seen.length === 2 ? (seen[1] ?? "") : seen.join(),
      attempts: [
        [1, "threw"],
        [2, "ok"],
      ],
    };
  },
};
