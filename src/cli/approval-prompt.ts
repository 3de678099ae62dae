/** Asks a person at the terminal for the calls that a human has to approve, one after another. */
import pLimit from "p-limit";
import type { ApprovalDecision, ApprovalProvider, ApprovalRequest } from "../index.js";
import type { PlanEvent } from "../plan/index.js";
import { lineOf, questionText } from "./approval-question.js";
import type { Terminal } from "./terminal.js";
import { isOver, typedLine } from "./typed-line.js";

/** Rows of a terminal that are left for what is not the input. */
const OTHER_ROWS = 12;
const LEAST_INPUT_ROWS = 5;

/** One terminal's questions. */
export class ApprovalPrompt implements ApprovalProvider {
  readonly #terminal: Terminal;
  readonly #oneAtATime = pLimit(1);
  /** Steps of a plan file, by the ids of their calls under way. */
  readonly #steps = new Map<string, string>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Hears of a plan file's calls, to tell which step asks. */
  follow(event: PlanEvent): void {
    if (event.type === "call") {
      const item = event.item === undefined ? "" : `, item ${event.item}`;
      this.#steps.set(event.callId, `step ${event.step}${item}`);
    } else if (event.type === "ended") this.#steps.delete(event.callId);
  }

  requestApproval(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    return this.#oneAtATime(() => this.#ask(request, signal));
  }

  async #ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const { screen, host } = this.#terminal;
    const { approvalId } = request;
    if (signal.aborted) throw new Error("nobody waits for it any more");
    screen.clear();
    try {
      let inputRows: number | undefined = this.#inputRows();
      for (;;) {
        const { text, isWhole } = questionText(request, this.#layout(request, inputRows));
        const answer = await typedLine(
          host.stdin,
          () => {
            screen.ask(`${this.#head()}\n${text}\nApprove it? ${isWhole ? "[y/N]" : "[y/N, v shows all of it]"} `);
          },
          signal,
        );
        if (answer === undefined) {
          screen.ask("\n");
          if (!isOver(host.stdin)) throw new Error("nobody waits for it any more");
          return { approvalId, approved: false, reason: "the input has ended" };
        }
        const word = answer.trim().toLowerCase();
        if (word === "v" && !isWhole) {
          inputRows = undefined;
          continue;
        }
        return { approvalId, approved: word === "y" || word === "yes", decidedBy: this.#person() };
      }
    } finally {
      screen.restore();
    }
  }

  #head(): string {
    const waiting = this.#oneAtATime.pendingCount;
    const more = waiting === 0 ? "" : ` (${waiting} more ${waiting === 1 ? "waits" : "wait"})`;
    return this.#terminal.style("bold", `A call needs your approval${more}:`, "stderr");
  }

  #layout(
    { callId, parentCallId }: ApprovalRequest,
    inputRows: number | undefined,
  ): Parameters<typeof questionText>[1] {
    const step = this.#steps.get(callId);
    const parent = this.#steps.get(parentCallId ?? "");
    return {
      columns: this.#terminal.columns,
      step: step ?? (parent === undefined ? undefined : `by the tool of ${parent}`),
      ...(inputRows !== undefined && { inputRows }),
    };
  }

  #inputRows(): number {
    const { rows = 24 } = this.#terminal.host.stderr as { rows?: number };
    return Math.max(LEAST_INPUT_ROWS, rows - OTHER_ROWS);
  }

  #person(): string {
    const { USER, USERNAME } = this.#terminal.host.env;
    return lineOf(USER ?? USERNAME ?? "somebody at the terminal");
  }
}
