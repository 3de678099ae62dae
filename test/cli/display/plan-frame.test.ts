import { stripVTControlCharacters, styleText } from "node:util";
import { expect } from "chai";
import stringWidth from "string-width";
import { frame, summary, type Paint } from "../../../src/cli/display/plan-frame.js";
import { PlanState } from "../../../src/cli/display/plan-state.js";
import type { PlanReport } from "../../../src/plan/index.js";

const MESSAGE = "処理中 👨‍👩‍👧‍👦 \u001b[2J\u009b31m\nplan: fake";
const paint: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** A plan under way: a step that tells how far it is, one over items, one that failed, and many that wait. */
function underWay(): PlanState {
  const ids = ["運ぶ", "items", "failed", ...Array.from({ length: 30 }, (_, index) => `waits-${index}`)];
  const state = new PlanState("漢字の計画", { steps: ids.map((id) => ({ id, tool: "x/とても長い名前の道具" })) });
  const callOf = (step: string): void => {
    state.apply({ type: "step", planId: "p", step, tool: "t", ...(step === "items" && { items: 9 }) } as never);
    state.apply({ type: "call", planId: "p", step, callId: step } as never);
  };
  for (const step of ["運ぶ", "items", "failed"]) callOf(step);
  state.progressed({ callId: "運ぶ", done: 3, total: 7, message: MESSAGE } as never);
  state.apply({
    type: "report",
    step: "failed",
    report: { tool: "t", outcome: "failed", attempts: 1, durationMs: 5, error: { code: "BAD", message: MESSAGE } },
  } as never);
  return state;
}

describe("frame()", () => {
  it("is at no width wider than the terminal, leaves no colour open, and obeys nothing that a tool says", () => {
    const state = underWay();
    for (let columns = 1; columns <= 300; columns++) {
      for (const line of frame(state, columns, 24, paint)) {
        expect(stringWidth(line), `at ${columns}: ${line}`).to.be.at.most(Math.max(0, columns - 1));
        expect(stripVTControlCharacters(line), `at ${columns}`).not.to.match(/\p{Cc}/u);
        const codes = line
          .split("\u001b[")
          .slice(1)
          .map((part) => part.slice(0, part.indexOf("m")));
        const ends = codes.filter((code) => code === "39" || code === "22");
        expect(ends, `at ${columns}: ${line}`).to.have.length(codes.length / 2);
      }
    }
  });

  it("shows as much as there is room for: colours take none", () => {
    const [, , items] = frame(underWay(), 60, 24, paint);
    expect(stringWidth(items ?? "")).to.be.within(50, 59);
  });

  it("summary() keeps each step in a line of its own", () => {
    const state = underWay();
    const report = { plan: "p\u001b[2J", outcome: "failed", calls: 3, durationMs: 7, cost: 0 } as PlanReport;
    const text = summary(state, report, 100, (_style, plain) => plain);
    expect(text.split("\n")).to.have.length(state.steps.length + 3);
    expect(text).not.to.match(/[^\P{Cc}\n]/u);
  });
});
