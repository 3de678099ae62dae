import { expect } from "chai";
import fc from "fast-check";
import { CallMarks, isoTime, OUTCOMES, PHASES, phasesOf } from "../../src/protocol/trace.js";

const MARKS = [
  "validated",
  "approved",
  "admitted",
  "activated",
  "dispatched",
  "received",
  "started",
  "finished",
  "settled",
] as const;

const sumOf = (phases: Readonly<Record<string, number>>): number =>
  Object.values(phases).reduce((sum, phase) => sum + phase, 0);

/** A number that a cell could write into a mark. */
const hostileMark = (): fc.Arbitrary<number> =>
  fc.oneof(
    fc.double(),
    fc.double({ min: 0, max: 20_000, noNaN: true }),
    fc.constantFrom(NaN, Infinity, -Infinity, -0, Number.MAX_VALUE, Number.MIN_VALUE),
  );

describe("protocol/trace", () => {
  it("phasesOf() gives each gap between marks that follow one another", () => {
    const marks = Object.assign(new CallMarks(10), {
      validated: 11,
      approved: 13,
      admitted: 16,
      activated: 20,
      dispatched: 25,
      received: 31,
      started: 38,
      finished: 46,
      settled: 55,
    });
    expect(phasesOf(marks, 65)).to.deep.equal({
      gates: 1,
      approval: 2,
      admission: 3,
      activation: 4,
      dispatch: 5,
      outbound: 6,
      start: 7,
      run: 8,
      inbound: 9,
      close: 10,
    });
  });

  it("phasesOf() is contiguous and sums up to the duration, whatever the marks hold", () => {
    const marks = fc.record(Object.fromEntries(MARKS.map((name) => [name, hostileMark()])));
    const start = fc.double({ min: 0, max: 10_000, noNaN: true });
    const length = fc.double({ min: 0, max: 10_000, noNaN: true });
    fc.assert(
      fc.property(marks, start, length, (values, queued, duration) => {
        const closed = queued + duration;
        const phases = phasesOf(Object.assign(new CallMarks(queued), values), closed);
        expect(Object.keys(phases)).to.deep.equal([...PHASES]);
        for (const phase of PHASES) expect(phases[phase], phase).to.be.at.least(0);
        expect(sumOf(phases)).to.be.closeTo(closed - queued, 1e-6);
      }),
      { numRuns: 1_000 },
    );
  });

  it("phasesOf() leaves marks that are in order as they are", () => {
    const gaps = fc.array(fc.nat({ max: 1_000 }), { minLength: PHASES.length, maxLength: PHASES.length });
    fc.assert(
      fc.property(gaps, fc.nat({ max: 1_000_000 }), (lengths, queued) => {
        const marks = new CallMarks(queued);
        let now = queued;
        for (const [index, name] of MARKS.entries()) marks[name] = now += lengths[index] ?? 0;
        const phases = phasesOf(marks, now + (lengths.at(-1) ?? 0));
        expect(Object.values(phases)).to.deep.equal(lengths);
      }),
      { numRuns: 200 },
    );
  });

  it("phasesOf() gives the phase in which a call ended all of its remaining time", () => {
    for (const [index, last] of MARKS.slice(0, -1).entries()) {
      const marks = new CallMarks(100);
      for (const [step, name] of MARKS.slice(0, index + 1).entries()) marks[name] = 101 + step;
      marks.settled = 200;
      const phases = phasesOf(marks, 205);
      const ended = PHASES[index + 1];
      if (ended === undefined) throw new Error("no such phase");
      expect(phases[ended], `after ${last}`).to.equal(200 - (101 + index));
      expect(phases.close).to.equal(5);
      expect(sumOf(phases)).to.equal(105);
    }
  });

  it("phasesOf() never counts backwards where the clock did", () => {
    const phases = phasesOf(new CallMarks(100), 90);
    expect(sumOf(phases)).to.equal(0);
  });

  it("phasesOf() cannot be changed", () => {
    expect(Object.isFrozen(phasesOf(new CallMarks(1), 2))).to.equal(true);
  });

  it("CallMarks() begins with nothing reached and undispatch() forgets what followed the dispatch", () => {
    const marks = new CallMarks(1);
    for (const name of MARKS) expect(marks[name], name).to.be.NaN;
    for (const [step, name] of MARKS.entries()) marks[name] = 2 + step;
    marks.undispatch();
    expect(marks).to.include({ queued: 1, validated: 2, approved: 3, admitted: 4, activated: 5, settled: 10 });
    for (const name of ["dispatched", "received", "started", "finished"] as const) expect(marks[name], name).to.be.NaN;
  });

  it("isoTime() is the time of day of a mark, also for many marks of one millisecond", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 10_000, noNaN: true }), { maxLength: 20 }), (marks) => {
        for (const mark of marks) {
          expect(isoTime(mark)).to.equal(new Date(Math.floor(performance.timeOrigin + mark)).toISOString());
        }
      }),
      { numRuns: 100 },
    );
  });

  it("OUTCOMES is the closed set of what can become of a call", () => {
    expect([...OUTCOMES]).to.deep.equal([
      "ok",
      "tool_error",
      "threw",
      "invalid_input",
      "invalid_output",
      "denied",
      "not_registered",
      "activation_failed",
      "overloaded",
      "cancelled",
      "timed_out",
      "killed",
      "crashed",
      "out_of_memory",
      "unsettled",
    ]);
  });
});
