/** What a plan file says: its types, and the schema that is published and used. */
import { Type, type Static } from "@sinclair/typebox";

/** A value, or a stand-in for one that is known later: `{ $from: pointer }` or `{ $text: [parts] }`. */
export type Template = unknown;

const name = (description: string) =>
  Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]*$", minLength: 1, maxLength: 100, description });
const milliseconds = (description: string) => Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description });

const Resource = Type.Object(
  {
    path: Type.String({
      minLength: 1,
      description: "Path on this host; a relative one starts at the plan file's folder.",
    }),
    access: Type.Optional(
      Type.Unsafe<"read_only" | "read_write">({
        enum: ["read_only", "read_write"],
        default: "read_only",
        description: "What the plan's tools may do there.",
      }),
    ),
    resourceId: Type.Optional(Type.String({ minLength: 1, description: "By default the slot's name." })),
    /** What it is, in the host's own words. */
    resourceType: Type.Optional(Type.String({ minLength: 1, default: "folder" })),
  },
  { additionalProperties: false, description: "What is bound to a slot that tools name." },
);

const Parameter = Type.Object(
  {
    /** What the value is for, for people. */
    description: Type.Optional(Type.String()),
    default: Type.Optional(Type.Unknown({ description: "Without one, who runs the plan must give a value." })),
    schema: Type.Optional(
      Type.Unsafe<object | boolean>({
        type: ["object", "boolean"],
        description: "JSON Schema that the value must hold.",
      }),
    ),
  },
  { additionalProperties: false, description: "A value that whoever runs the plan may give; read at `/params/NAME`." },
);

const spendable = {
  calls: Type.Optional(Type.Integer({ minimum: 0, description: "Calls, retries and nested calls included." })),
  cost: Type.Optional(
    Type.Number({
      minimum: 0,
      description: "What the calls may cost, in the tools' own unit; estimates are reserved.",
    }),
  ),
  cpuMs: Type.Optional(milliseconds("Milliseconds in which the cells may be busy; what runs then is stopped.")),
};
const Budget = Type.Object(
  {
    ...spendable,
    wallMs: Type.Optional(milliseconds("Milliseconds the plan may take; what runs then is cancelled.")),
    tools: Type.Optional(
      Type.Record(
        Type.String({ minLength: 1 }),
        Type.Object(
          {
            ...spendable,
            wallMs: Type.Optional(
              milliseconds("Milliseconds during which calls may be open; what runs then is stopped."),
            ),
          },
          { additionalProperties: false },
        ),
        { description: "Limits of single tools, or of namespaces as in `acme/*`." },
      ),
    ),
  },
  { additionalProperties: false, description: "A call that would pass it is not made." },
);

const Condition = Type.Object(
  {
    $from: Type.String({ description: "JSON Pointer into the plan's document." }),
    matches: Type.Optional(
      Type.Unsafe<object | boolean>({
        type: ["object", "boolean"],
        description: "JSON Schema. Without it the value must be there and not be false, null, 0 or empty.",
      }),
    ),
    not: Type.Optional(Type.Boolean({ default: false, description: "Turns the condition round." })),
  },
  { additionalProperties: false, description: "The step is skipped where it does not hold." },
);

const Retry = Type.Object(
  {
    attempts: Type.Integer({ minimum: 2, maximum: 20, description: "How often at most, the first time included." }),
    delayMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 600_000,
        default: 100,
        description: "Milliseconds before the second attempt.",
      }),
    ),
    factor: Type.Optional(
      Type.Number({ minimum: 1, maximum: 10, default: 2, description: "How much longer each further wait is." }),
    ),
    /** The longest wait, in milliseconds. */
    maxDelayMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000, default: 30_000 })),
  },
  {
    additionalProperties: false,
    description: "After a crash, a kill or a deadline only a tool that declares `idempotent` is called again.",
  },
);

const ForEach = Type.Object(
  {
    items: Type.Unknown({
      description: "A list, or what stands for one. An item is read at `/item`, its place at `/index`.",
    }),
    concurrency: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_024, default: 4, description: "Items at one time." }),
    ),
    continueOnError: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Goes on with the other items; their outputs stand, and null where one failed.",
      }),
    ),
  },
  { additionalProperties: false, description: "Calls the tool once for each item; the output is the list of outputs." },
);

const Step = Type.Object(
  {
    id: name("Names the step within the plan."),
    tool: Type.String({ minLength: 1, description: "namespace/name" }),
    /** What the step does, for people. */
    description: Type.Optional(Type.String()),
    input: Type.Optional(
      Type.Unknown({
        description: "The tool's input. `{ $from: pointer }` stands for a value of the plan's document.",
      }),
    ),
    after: Type.Optional(
      Type.Array(Type.String(), { description: "Steps to wait for, beside those whose values are used." }),
    ),
    when: Type.Optional(Condition),
    retry: Type.Optional(Retry),
    timeoutMs: Type.Optional(milliseconds("Milliseconds each attempt may take.")),
    forEach: Type.Optional(ForEach),
    continueOnError: Type.Optional(
      Type.Boolean({
        default: false,
        description: "A failure does not fail the plan; what only comes `after` it runs.",
      }),
    ),
  },
  { additionalProperties: false, description: "One call of a tool, or one for each item of a list." },
);

/** JSON Schema of a plan file. */
export const PLAN_SCHEMA = Type.Object(
  {
    /** For editors: where the file's JSON Schema is. */
    $schema: Type.Optional(Type.String()),
    plan: Type.Optional(name("The plan's id. By default the file's name.")),
    /** What the plan is for, for people. */
    description: Type.Optional(Type.String()),
    readOnly: Type.Optional(Type.Boolean({ default: false, description: "Tools that write are refused." })),
    /** Tools that cannot give a checkpoint are refused. */
    requireCheckpoints: Type.Optional(Type.Boolean({ default: false })),
    /** What whoever runs the plan may give, by name. */
    params: Type.Optional(Type.Record(Type.String({ minLength: 1 }), Parameter)),
    /** What is bound, by the names of slots. */
    resources: Type.Optional(Type.Record(Type.String({ minLength: 1 }), Resource)),
    budget: Type.Optional(Budget),
    concurrency: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_024, default: 16, description: "Steps at one time." }),
    ),
    /** What the plan does. */
    steps: Type.Array(Step, { minItems: 1, maxItems: 10_000 }),
  },
  { additionalProperties: false, title: "toolcell plan" },
);

/**
 * A plan file, read.
 * @useDeclaredType
 */
export type PlanFile = Static<typeof PLAN_SCHEMA>;
/**
 * A step as the file has it.
 * @useDeclaredType
 */
export type PlanStep = Static<typeof Step>;
/**
 * When a step runs.
 * @useDeclaredType
 */
export type StepCondition = Static<typeof Condition>;
/**
 * How often a step is tried.
 * @useDeclaredType
 */
export type StepRetry = Static<typeof Retry>;
