import { expect } from "chai";
import fc from "fast-check";
import { OUTCOMES, PHASES, type ToolExecutionTrace, type TracePhases } from "../../src/protocol/trace.js";
import { callIdOf } from "../../src/runtime/call-ids.js";
import { TraceLog } from "../../src/runtime/trace-log.js";

const milliseconds = fc.double({ min: 0, max: 1e9, noNaN: true });

const traces: fc.Arbitrary<ToolExecutionTrace> = fc
  .record(
    {
      toolName: fc.string(),
      toolVersion: fc.string(),
      planId: fc.string(),
      callId: fc.string(),
      parentCallId: fc.string(),
      startedAt: fc.constant("2026-01-01T00:00:00.000Z"),
      endedAt: fc.constant("2026-01-01T00:00:01.000Z"),
      durationMs: milliseconds,
      phases: fc.tuple(...PHASES.map(() => milliseconds)),
      resultSizeBytes: fc.nat(),
      error: fc.string(),
      outcome: fc.constantFrom(...OUTCOMES),
      cell: fc.constant({ id: "thread-1", tier: "thread" }),
      attempt: fc.integer({ min: 1, max: 5 }),
      cost: milliseconds,
    },
    {
      requiredKeys: [
        "toolName",
        "planId",
        "callId",
        "startedAt",
        "endedAt",
        "durationMs",
        "phases",
        "resultSizeBytes",
        "outcome",
        "attempt",
      ],
    },
  )
  .map(({ phases, ...rest }) => ({
    ...rest,
    success: rest.outcome === "ok",
    phases: Object.fromEntries(PHASES.map((name, index) => [name, phases[index]])) as unknown as TracePhases,
  }));

describe("runtime/trace-log", () => {
  it("members keeps the newest traces whole and in order, count counts all", () => {
    fc.assert(
      fc.property(fc.array(traces, { maxLength: 200 }), fc.integer({ min: 1, max: 80 }), (added, limit) => {
        const log = new TraceLog(limit);
        for (const trace of added) log.add(trace);
        expect(log.count).to.equal(added.length);
        expect(log.members).to.deep.equal(added.slice(-limit));
      }),
      { numRuns: 60 },
    );
  });

  it("add() makes an id of its serial again", () => {
    const log = new TraceLog(4);
    const [trace] = fc.sample(traces, 1) as [ToolExecutionTrace];
    log.add({ ...trace, callId: callIdOf(0xdeadbeef) }, 0xdeadbeef);
    expect(log.members[0]?.callId).to.equal(callIdOf(0xdeadbeef));
  });

  it("members cannot be changed by who reads them", () => {
    const log = new TraceLog(4);
    log.add((fc.sample(traces, 1) as [ToolExecutionTrace])[0]);
    const [read] = log.members;
    expect(Object.isFrozen(read)).to.equal(true);
    expect(Object.isFrozen(read?.phases)).to.equal(true);
  });
});
