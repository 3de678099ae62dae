/** The thread tier as its own tests want it: scripts given as text, and modules made on the spot. */
import type { Plan, ToolRuntimeOptions, ToolSpec } from "../../../src/index.js";
import type { Loose } from "../../contract/recorder.js";
import { Bed, makeRuntime, registerModule } from "../../contract/tier-bed.js";
import { fixtureSpec } from "../../fixtures/tools.js";

/** A bed on the thread tier. */
export class ThreadBed extends Bed {
  constructor() {
    super({ name: "thread", apart: true, makeRuntime, register: registerModule });
  }

  /** Registers a module by its path. */
  module(
    path: string | URL,
    options: Omit<Extract<Parameters<ToolRuntimeLike["register"]>[1], { module: unknown }>, "module"> = {},
  ): ToolSpec {
    const spec = fixtureSpec("script", { name: "made/tool" });
    return this.runtime.register(spec, {
      ...options,
      capability: { writes: false, ...options.capability },
      module: path,
    });
  }

  /** Runs a script in a plan of the fixture `script`. */
  async script(plan: Plan, code: string, input?: unknown): Promise<Loose> {
    return (await plan.execute("fixture/script", { code, input })).output;
  }

  override open(options: ToolRuntimeOptions = {}): ReturnType<Bed["open"]> {
    return super.open(options);
  }
}

type ToolRuntimeLike = Bed["runtime"];

/** JavaScript that tells whether an attempt got through: `{ reached }` or `{ refused }`, the error's code or name. */
export function attempt(code: string): string {
  return `try { return { reached: await (async () => { ${code} })() ?? null }; }
    catch (error) { return { refused: error.code ?? error.name, message: error.message }; }`;
}
