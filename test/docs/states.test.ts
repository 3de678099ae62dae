import { expect } from "chai";
import { PHASES, type ToolExecutionTrace } from "../../src/index.js";
import type { Ending } from "./states/ending.js";
import { GATES } from "./states/gates.js";
import { CLOSE, INBOUND, RUN } from "./states/reached.js";
import { DISPATCH, START } from "./states/sent.js";
import { isSubject, Stage } from "./states/stage.js";
import { CLASSES, STATES, WAYS_BACK, type StateRow } from "./states/table.js";
import { ACTIVATION, ADMISSION, APPROVAL } from "./states/waits.js";
import { BACK, journey } from "./states/ways.js";

/** By the last phase of a state. */
const ENDINGS: Readonly<Record<string, readonly Ending[]>> = {
  gates: GATES,
  approval: APPROVAL,
  admission: ADMISSION,
  activation: ACTIVATION,
  dispatch: DISPATCH,
  start: START,
  run: RUN,
  inbound: INBOUND,
  close: CLOSE,
};
const ANSWERED = ["ok", "tool_error", "invalid_input", "invalid_output"];

const nameOf = ({ phases }: StateRow): string => phases.at(-1)!;
const textOf = (outcome: string, code: string | undefined): string => [outcome, ...(code ? [code] : [])].join(" ");
const sum = (phases: StateRow["phases"], trace: ToolExecutionTrace): number =>
  phases.reduce((total, phase) => total + trace.phases[phase], 0);

describe("docs/states.md", function () {
  this.timeout(60_000);

  afterEach(() => Stage.closeAll());

  it("names every phase once, in order, and gives every state its scenarios", () => {
    expect(STATES.flatMap(({ phases }) => phases)).to.deep.equal([...PHASES]);
    expect(Object.keys(ENDINGS)).to.deep.equal(STATES.map(nameOf));
  });

  for (const row of STATES) {
    const state = nameOf(row);
    const endings = ENDINGS[state] ?? [];

    describe(state, () => {
      it("ends as the table says: there is a scenario for each outcome and code, and for no other", () => {
        const said = row.endings.flatMap(({ outcome, codes }) =>
          codes.length === 0 ? [textOf(outcome, undefined)] : codes.map((code) => textOf(outcome, code)),
        );
        expect(endings.map(({ outcome, code }) => textOf(outcome, code))).to.have.members(said);
      });

      for (const { outcome, code, play } of endings) {
        it(`a call ends as ${textOf(outcome, code)}`, async () => {
          const stage = await play();
          const { result, error } = await stage.end;
          const traces = stage.context.traces.filter(isSubject);
          const trace = traces[0]!;
          expect(traces).to.have.lengthOf(1);
          expect(trace).to.include({ outcome, success: outcome === "ok" });
          if (ANSWERED.includes(outcome)) {
            expect(result).to.include({ success: outcome === "ok" });
            expect(result?.error?.code).to.equal(outcome === "tool_error" ? "OWN" : code);
          } else {
            const thrown = CLASSES.filter(({ codes }) => codes.includes(code!));
            const { name } = thrown.find((one) => one.outcome === outcome) ?? thrown.find((one) => !one.outcome)!;
            expect(error).to.include({ name, code });
            if ("outcome" in error) expect(error.outcome).to.equal(outcome);
          }
          const last = PHASES.findIndex((phase) => phase === state);
          expect(sum(row.phases, trace), "time in its state").to.be.above(0);
          for (const phase of PHASES.slice(last + 1, -1)) expect(trace.phases[phase], phase).to.equal(0);
          const started = stage.recorder.logs.filter((log) => isSubject(log) && log.message === "started");
          const isReached = ["run", "inbound", "close"].includes(state);
          expect(started.map(({ callId }) => callId)).to.deep.equal(isReached ? [trace.callId] : []);
          await stage.cleared();
          expect((await stage.next()).success).to.equal(true);
          expect(stage.runtime.calls()).to.deep.equal([]);
        });
      }
    });
  }

  it("a call goes from state to state in the order of the table, in the words of calls()", async () => {
    const { stage, shown } = await journey();
    const { result } = await stage.end;
    expect(result).to.include({ success: true });
    // Its cell ended on it once, before it had started.
    const way = [...new Set(STATES.map((row) => row.shown))];
    const sent = way.indexOf("dispatch");
    expect(shown).to.deep.equal([...way.slice(0, sent), "start", ...way.slice(sent)]);
    for (const phase of PHASES) expect(result?.trace.phases[phase], phase).to.be.above(0);
    expect(stage.context.traces.filter(isSubject)).to.deep.equal([result?.trace]);
  });

  it("names the ways back, and no other", () => {
    expect(WAYS_BACK.map(([way]) => way)).to.have.members(Object.keys(BACK));
  });

  for (const [way, play] of Object.entries(BACK)) {
    it(`a call that is ${way} goes back as the table says`, async () => {
      const { stage, from, to, attempts } = await play();
      const { result } = await stage.end;
      expect(result).to.include({ success: true, output: 1 });
      expect([way, from, to]).to.deep.equal(WAYS_BACK.find(([name]) => name === way));
      const traces = stage.context.traces.filter(isSubject);
      expect(traces.map(({ attempt, outcome }) => [attempt, outcome])).to.deep.equal(attempts);
      expect(new Set(traces.map(({ callId }) => callId)).size).to.equal(1);
      const started = stage.recorder.logs.filter((log) => isSubject(log) && log.message === "started");
      expect(started).to.have.lengthOf(attempts.length);
      await stage.cleared();
      expect((await stage.next()).success).to.equal(true);
    });
  }
});
