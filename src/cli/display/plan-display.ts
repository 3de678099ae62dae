/** Shows a plan while it runs: a picture on a terminal, lines elsewhere. */
import type { ToolRuntime } from "../../index.js";
import type { PlanEvent, PlanFile, PlanReport } from "../../plan/index.js";
import { milliseconds } from "../table.js";
import type { Style, Terminal } from "../terminal.js";
import { LiveText } from "./live-text.js";
import { frame, summary, type Paint } from "./plan-frame.js";
import { PlanState } from "./plan-state.js";

/** Milliseconds between two frames. */
const FRAME_MS = 80;

/** Follows one plan until `end`. */
export interface PlanDisplay {
  event(event: PlanEvent): void;
  /** Leaves the last picture as a table. */
  end(report: PlanReport | undefined): void;
}

/** The display that fits the terminal. */
export function planDisplay(terminal: Terminal, runtime: ToolRuntime, planId: string, plan: PlanFile): PlanDisplay {
  const state = new PlanState(planId, plan);
  runtime.on("progress", (event) => {
    state.progressed(event);
  });
  return terminal.isLive ? new LiveDisplay(terminal, runtime, state) : new LineDisplay(terminal, runtime, state);
}

class LiveDisplay implements PlanDisplay {
  readonly #terminal: Terminal;
  readonly #runtime: ToolRuntime;
  readonly #state: PlanState;
  readonly #picture: LiveText;
  readonly #timer: NodeJS.Timeout;
  readonly #paint: Paint;

  constructor(terminal: Terminal, runtime: ToolRuntime, state: PlanState) {
    this.#terminal = terminal;
    this.#runtime = runtime;
    this.#state = state;
    this.#paint = (style, text) => terminal.style(style, text, "stderr");
    this.#picture = new LiveText(terminal, () => {
      this.#draw();
    });
    this.#timer = setInterval(() => {
      this.#draw();
    }, FRAME_MS).unref();
    // Lines above the picture, which would else be drawn over.
    runtime.on("log", ({ toolName, level, message }) => {
      this.#line(`${toolName} ${level}: ${message}`);
    });
    this.#draw();
  }

  event(event: PlanEvent): void {
    this.#state.apply(event);
    const line = troubleOf(event);
    if (line !== undefined) this.#line(line, "yellow");
  }

  end(report: PlanReport | undefined): void {
    clearInterval(this.#timer);
    this.#picture.end();
    if (report) this.#terminal.show(summary(this.#state, report, this.#terminal.columns, this.#paint));
  }

  #line(text: string, style?: Style): void {
    this.#picture.clear();
    this.#terminal.note(text, style);
    this.#draw();
  }

  #draw(): void {
    if (this.#picture.isHidden) return;
    this.#state.open = this.#runtime.calls(this.#state.planId);
    const { rows = 24 } = this.#terminal.host.stderr as { rows?: number };
    this.#picture.draw(frame(this.#state, this.#terminal.columns, rows, this.#paint).join("\n"));
  }
}

class LineDisplay implements PlanDisplay {
  readonly #terminal: Terminal;
  readonly #state: PlanState;
  readonly #paint: Paint;

  constructor(terminal: Terminal, runtime: ToolRuntime, state: PlanState) {
    this.#terminal = terminal;
    this.#state = state;
    this.#paint = (style, text) => terminal.style(style, text, "stderr");
    runtime.on("log", ({ toolName, level, message }) => {
      terminal.note(`${toolName} ${level}: ${message}`);
    });
  }

  event(event: PlanEvent): void {
    this.#state.apply(event);
    const trouble = troubleOf(event);
    if (trouble !== undefined) this.#terminal.note(trouble);
    if (event.type === "step" && event.items === undefined) this.#terminal.note(`${event.step}: ${event.tool} starts`);
    if (event.type !== "report") return;
    const { outcome, durationMs, attempts, error, reason } = event.report;
    const detail = error ? `: ${error.code}: ${error.message}` : reason === undefined ? "" : `: ${reason}`;
    this.#terminal.note(`${event.step}: ${outcome} after ${milliseconds(durationMs)} ms, ${attempts} calls${detail}`);
  }

  end(report: PlanReport | undefined): void {
    if (report) this.#terminal.show(summary(this.#state, report, this.#terminal.columns, this.#paint));
  }
}

/** Calls that had to be killed, or whose cell died, and why. */
function troubleOf(event: PlanEvent): string | undefined {
  if (event.type !== "ended" || !event.error) return undefined;
  const outcome = event.trace?.outcome ?? "";
  if (!["killed", "crashed", "out_of_memory", "unsettled", "timed_out"].includes(outcome)) return undefined;
  const item = event.item === undefined ? "" : ` item ${event.item}`;
  return `${event.step}${item}: ${outcome.replaceAll("_", " ")}: ${event.error.message}`;
}
