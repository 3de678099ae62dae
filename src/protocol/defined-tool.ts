/** A tool as `defineTool` makes it, typed from its schemas. */
import type {
  JsonSchema,
  ToolActivationContext,
  ToolAnswer,
  ToolCapability,
  ToolContext,
  ToolSource,
  ToolSpec,
} from "./tool.js";

/**
 * The static type of a schema, read off its form, so that another copy of TypeBox is as good; `unknown` for one that
 * TypeBox did not make.
 */
export type Infer<Schema> = Schema extends { readonly static: unknown; readonly params: readonly unknown[] }
  ? (Schema & { params: [] })["static"]
  : unknown;

/** What `defineTool` takes: a specification and what it specifies. */
export interface ToolDefinition<Input extends JsonSchema, Output extends JsonSchema> {
  /** `namespace/name`. */
  name: string;
  /** For models and people. */
  description: string;
  /** The tool's own version, for traces and people. */
  version?: string;
  /** Checked before each call; of a TypeBox schema `execute` has the type of its input. */
  inputSchema: Input;
  /** Checked after each call; of a TypeBox schema `execute` has the type of its output. Default: any output will do. */
  outputSchema?: Output;
  /** Default `custom`. */
  source?: ToolSource;
  /** What the tool may do and needs. A tool that says nothing is taken to write. */
  capability?: ToolCapability;
  /** Shorthand for `capability.writes: false`. */
  readOnly?: boolean;
  /** Shorthand for `capability.checkpointable`. */
  checkpointable?: boolean;
  /** Runs once in each cell before its first call. */
  activate?(context: ToolActivationContext): void | Promise<void>;
  /** Answers a call with an output, a `toolResult(…)` or a `toolError(…)`. */
  execute(
    input: Infer<Input>,
    context: ToolContext,
  ): Infer<Output> | ToolAnswer<Infer<Output>> | Promise<Infer<Output> | ToolAnswer<Infer<Output>>>;
  /** Runs once in each cell when the plan ends. */
  deactivate?(context: ToolActivationContext): void | Promise<void>;
}

/** A tool that knows where its module is, so that it can run in a cell. */
export interface DefinedTool<Input extends JsonSchema = JsonSchema, Output extends JsonSchema = JsonSchema> {
  /** `namespace/name`. */
  readonly name: string;
  /** For models and people. */
  readonly description: string;
  /** The tool's own version, for traces and people. */
  readonly version?: string;
  /** Checked before each call. */
  readonly inputSchema: Input;
  /** Checked after each call; without one any output will do. */
  readonly outputSchema?: Output;
  /** Default `custom`. */
  readonly source?: ToolSource;
  /** What the tool may do and needs. A tool that says nothing is taken to write. */
  readonly capability?: ToolCapability;
  /** Shorthand for `capability.writes: false`. */
  readonly readOnly?: boolean;
  /** Shorthand for `capability.checkpointable`. */
  readonly checkpointable?: boolean;
  /** URL of the module whose default export this is; absent for a tool that stays inline. */
  readonly url?: string;
  /** Runs once in each cell before its first call. */
  readonly activate?: (context: ToolActivationContext) => void | Promise<void>;
  /** Answers a call with an output, a `toolResult(…)` or a `toolError(…)`. */
  readonly execute: ToolDefinition<Input, Output>["execute"];
  /** Runs once in each cell when the plan ends. */
  readonly deactivate?: (context: ToolActivationContext) => void | Promise<void>;
}

/** Any defined tool, whatever its types. */
export interface AnyTool extends ToolSpec {
  /** URL of the module whose default export this is; absent for a tool that stays inline. */
  readonly url?: string;
  /** Answers a call. */
  execute(input: never, context: never): unknown;
}
