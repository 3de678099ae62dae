/** One suite for every isolation tier: what a tool and its caller may rely on, wherever the tool runs. */
import { describeAnswers } from "./tier-answers.js";
import { Bed, type Tier } from "./tier-bed.js";
import { describeBudget } from "./tier-budget.js";
import { describeCancel } from "./tier-cancel.js";
import { describeCrash } from "./tier-crash.js";
import { describeErrors } from "./tier-errors.js";
import { describeEvents } from "./tier-events.js";
import { describeLife } from "./tier-life.js";
import { describeNested } from "./tier-nested.js";
import { describePayload } from "./tier-payload.js";
import { describeTraces } from "./tier-traces.js";

/** Runs the suite against a tier. */
export function describeTier(tier: Tier): void {
  describe(`tier ${tier.name}`, () => {
    const bed = new Bed(tier);
    describeAnswers(bed);
    describePayload(bed);
    describeErrors(bed);
    describeCancel(bed);
    describeBudget(bed);
    describeCrash(bed);
    describeEvents(bed);
    describeLife(bed);
    describeNested(bed);
    describeTraces(bed);
  });
}
