/** The host's policy on tools: which may run at all, in what, with what grant, and whose word counts. */
import { Type } from "@sinclair/typebox";
import { ToolRuntimeError } from "../protocol/errors.js";
import {
  ISOLATION_TIERS,
  TOOL_SOURCES,
  type IsolationTier,
  type ResolvedCapability,
  type ToolSource,
  type ToolSpec,
} from "../protocol/tool.js";
import { SchemaCache } from "../schema/cache.js";
import { fieldProblem } from "./field-check.js";
import { covers } from "./tool-pattern.js";

/**
 * A policy, given to a runtime for all of its plans, to a plan, or to both; then the stricter word counts. Tools are
 * named in full or by namespace, as in `acme/*`.
 *
 * @example
 * ```ts
 * import { ToolRuntime } from "toolcell";
 * const runtime = new ToolRuntime({
 *   safetyProfile: { deny: ["acme/shell"], isolation: { untrusted: "thread" }, grants: { net: false, spawn: false } },
 * });
 * console.log(runtime.list().length); // → 0
 * await runtime.close();
 * ```
 */
export interface SafetyProfile {
  /** What errors call it. Default `unnamed`. */
  readonly name?: string;
  /** Tools and namespaces that do not run. */
  readonly deny?: readonly string[];
  /** The least isolation tier by source of a tool and by trust in its code. Default: what the tool names. */
  readonly isolation?: Readonly<Partial<Record<ToolSource | Trust, IsolationTier>>>;
  /** What a registration may grant; what is absent is not limited. */
  readonly grants?: GrantLimits;
  /** Tools and namespaces whose every call a human has to approve, whatever the tools say. */
  readonly approve?: readonly string[];
  /**
   * Untrusted sources whose word that a tool does not write is believed. Without it such a tool runs in a read-only plan
   * only where its cell cannot write.
   */
  readonly trustReadOnly?: readonly ToolSource[];
}

/** Whether the host trusts a tool's code. */
export type Trust = "trusted" | "untrusted";

/** Bounds on what a registration grants. */
export interface GrantLimits {
  /** Whether a tool may write at all. */
  readonly writes?: boolean;
  /** Network: whether at all, or the hosts. */
  readonly net?: boolean | readonly string[];
  /** Whether a tool may start processes. */
  readonly spawn?: boolean;
  /** Environment variables: whether at all, or the names. */
  readonly env?: boolean | readonly string[];
  /** MiB of V8 heap. */
  readonly memoryMb?: number;
}

const names = Type.Array(Type.String({ pattern: "^[^\\s/]+(/[^\\s/*]+)*(/\\*)?$", maxLength: 256 }), {
  maxItems: 10_000,
});
const tier = Type.Optional(Type.Union(ISOLATION_TIERS.map((each) => Type.Literal(each))));
const listOrAll = Type.Optional(Type.Union([Type.Boolean(), Type.Array(Type.String({ minLength: 1 }))]));

const ProfileSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    deny: Type.Optional(names),
    isolation: Type.Optional(
      Type.Object(Object.fromEntries([...TOOL_SOURCES, "trusted", "untrusted"].map((each) => [each, tier])), {
        additionalProperties: false,
      }),
    ),
    grants: Type.Optional(
      Type.Object(
        {
          writes: Type.Optional(Type.Boolean()),
          net: listOrAll,
          spawn: Type.Optional(Type.Boolean()),
          env: listOrAll,
          memoryMb: Type.Optional(Type.Integer({ minimum: 16 })),
        },
        { additionalProperties: false },
      ),
    ),
    approve: Type.Optional(names),
    trustReadOnly: Type.Optional(Type.Array(Type.Union(TOOL_SOURCES.map((each) => Type.Literal(each))))),
  },
  { additionalProperties: false },
);

const compiled = new SchemaCache({ maxEntries: 1 }).compile(ProfileSchema);

/** A registered tool, as far as a profile looks at it. */
export interface JudgedTool {
  readonly spec: ToolSpec;
  readonly capability: ResolvedCapability;
  readonly trusted: boolean;
}

/** What a profile says of one tool. */
export interface Verdict {
  /** Why the tool does not run. */
  readonly violation: string | undefined;
  readonly leastTier: IsolationTier;
  readonly needsApproval: boolean;
  readonly trustsReadOnly: boolean;
}

/** A profile that was checked. What it says of a tool is worked out once. */
export class SafetyRules {
  readonly name: string;
  /** The profile as plain data, in a form that is the same for the same rules. */
  readonly text: string;
  readonly #profile: SafetyProfile;
  readonly #verdicts = new WeakMap<JudgedTool, Verdict>();

  /** @throws ToolRuntimeError with the code given */
  constructor(profile: SafetyProfile, code: "INVALID_OPTIONS" | "INVALID_ARGUMENT") {
    const problem = fieldProblem(compiled, ProfileSchema.properties, profile);
    if (problem) {
      throw new ToolRuntimeError(`Safety profile: ${problem.text}.`, { code, details: { errors: problem.errors } });
    }
    // Its owner may change it later; what was checked stays.
    this.#profile = structuredClone(profile);
    this.name = profile.name ?? "unnamed";
    this.text = JSON.stringify(this.#profile);
  }

  of(tool: JudgedTool): Verdict {
    let verdict = this.#verdicts.get(tool);
    if (!verdict) this.#verdicts.set(tool, (verdict = this.#judge(tool)));
    return verdict;
  }

  /** Why a registration grants too much, if it does. */
  excessOf({ capability }: JudgedTool): string | undefined {
    const { writes, net, spawn, env, memoryMb } = this.#profile.grants ?? {};
    if (writes === false && capability.writes) return "it may write";
    if (exceeds(capability.net, net)) return `it may use the network (${listed(capability.net)})`;
    if (spawn === false && capability.spawn) return "it may start processes";
    const variables = Object.keys(capability.env);
    if (variables.length > 0 && exceeds(variables, env)) return `it gets environment variables (${listed(variables)})`;
    if (memoryMb !== undefined && (capability.memoryMb ?? 0) > memoryMb) {
      return `it may use ${capability.memoryMb} MiB of heap, and ${memoryMb} are allowed`;
    }
    return undefined;
  }

  #judge(tool: JudgedTool): Verdict {
    const { deny = [], isolation = {}, approve = [], trustReadOnly = [] } = this.#profile;
    const { name, source = "custom" } = tool.spec;
    const denied = deny.find((pattern) => covers(pattern, name));
    const tiers = [isolation[source], isolation[tool.trusted ? "trusted" : "untrusted"]];
    return {
      violation: denied === undefined ? this.excessOf(tool) : `"${denied}" is denied`,
      leastTier: tiers.reduce<IsolationTier>((least, each) => stricter(least, each ?? "inline"), "inline"),
      needsApproval: approve.some((pattern) => covers(pattern, name)),
      trustsReadOnly: trustReadOnly.includes(source),
    };
  }
}

/** The stronger of two tiers. */
export function stricter(one: IsolationTier, other: IsolationTier): IsolationTier {
  return ISOLATION_TIERS.indexOf(one) >= ISOLATION_TIERS.indexOf(other) ? one : other;
}

function exceeds(granted: boolean | readonly string[], allowed: boolean | readonly string[] | undefined): boolean {
  if (allowed === undefined || allowed === true || granted === false) return false;
  if (allowed === false) return true;
  return granted === true || granted.some((each) => !allowed.includes(each));
}

function listed(granted: boolean | readonly string[]): string {
  return typeof granted === "boolean" ? "without bounds" : granted.join(", ");
}
