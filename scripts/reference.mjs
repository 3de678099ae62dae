// Completes the API reference of typedoc with what the code says elsewhere than in comments.
//
//   typedoc --plugin ./scripts/reference.mjs
import { readFileSync } from "node:fs";
import { Comment, CommentTag, Converter, ReferenceType, ReflectionKind } from "typedoc";

/** Where a newcomer finds a symbol, by the file that declares it. */
const CATEGORIES = {
  Running: [
    "index",
    "runtime/cancellation",
    "runtime/coordinator",
    "runtime/execute-options",
    "runtime/execution-context",
    "runtime/options",
    "runtime/health",
    "runtime/histogram",
    "runtime/metric",
    "runtime/plan",
    "runtime/tool-runtime",
  ],
  Tools: ["tool", "protocol/defined-tool", "protocol/tool"],
  Registration: ["runtime/tool-descriptor", "runtime/tool-executor", "runtime/tool-provider", "sources/builtins"],
  Policies: [
    "approvals/folder-approvals",
    "approvals/folder-options",
    "approvals/memory-approvals",
    "checkpoints/directory-checkpoints",
    "checkpoints/record",
    "runtime/approval",
    "runtime/budget",
    "runtime/budget-account",
    "runtime/retry-policy",
    "runtime/checkpoint",
    "runtime/safety-profile",
  ],
  Errors: ["protocol/errors"],
  "Traces and events": ["protocol/trace", "runtime/call-trace", "runtime/open-call", "runtime/runtime-events"],
  "Plan files": ["plan/load", "plan/run-plan", "plan/plan-file", "plan/source", "plan/document"],
  Parts: ["schema/validator", "runtime/cell", "runtime/lifecycle-cache", "runtime/tool-registry"],
};

/** The fields of a plan file are described in its schema, which editors of plan files read too. */
const schema = JSON.parse(readFileSync(new URL("../schemas/plan.schema.json", import.meta.url), "utf8"));
const step = schema.properties.steps.items;
const DESCRIBED = {
  PlanFile: schema,
  PlanStep: step,
  StepCondition: step.properties.when,
  StepRetry: step.properties.retry,
};

/** @param {import("typedoc").Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, page) => {
    const [first] = page.content;
    page.name = /^# (.*)$/m.exec(first?.text ?? "")?.[1] ?? page.name;
  });
  app.converter.on(
    Converter.EVENT_RESOLVE_BEGIN,
    ({ project }) => {
      for (const { children } of project.getReflectionsByKind(ReflectionKind.Module)) {
        for (const symbol of children ?? []) {
          categorize(symbol, project, app.logger);
          complete(symbol, project);
        }
      }
    },
    // Before typedoc sorts symbols into categories.
    1_000,
  );
}

function categorize(symbol, project, logger) {
  const declared = symbol.isReference() ? symbol.getTargetReflectionDeep() : symbol;
  const file = project.getSymbolIdFromReflection(declared)?.fileName.replace(/^.*\/src\/(.*)\.ts$/, "$1");
  const [category] = Object.entries(CATEGORIES).find(([, files]) => files.includes(file)) ?? [];
  if (!category) logger.warn(`${symbol.name}, declared in ${file}, has no category in scripts/reference.mjs`);
  symbol.comment ??= new Comment();
  symbol.comment.blockTags.push(new CommentTag("@category", [{ kind: "text", text: category ?? "Other" }]));
}

function complete(symbol, project) {
  if (symbol.name === "ERROR_CODES") describeCodes(symbol);
  if (symbol.name === "PLAN_SCHEMA") shorten(symbol, project);
  if (Object.hasOwn(DESCRIBED, symbol.name)) describeFields(symbol, DESCRIBED[symbol.name]);
  for (const member of symbol.children ?? []) {
    if (member.name === "plan" && symbol.name === "LoadedPlan") {
      project.removeTypeReflections(member.type);
      const target = symbol.parent.getChildByName("PlanFile");
      member.type = ReferenceType.createResolvedReference(target.name, target, project);
    }
  }
}

/** What a code means is its value. */
function describeCodes({ type }) {
  for (const code of type.declaration.children) code.comment ??= commentOf(code.type.value);
}

/** Its whole type is the file's, over again. */
function shorten(symbol, project) {
  project.removeTypeReflections(symbol.type);
  symbol.type.typeArguments = undefined;
}

/** @param holder a declaration that has fields, or whose values have */
function describeFields(holder, described) {
  for (const { type } of holder.indexSignatures ?? []) {
    describeType(type, Object.values(described.patternProperties)[0]);
  }
  for (const field of holder.children ?? []) {
    const own = described.properties[field.name];
    field.defaultValue = undefined;
    if (own.description) field.comment ??= commentOf(own.description);
    describeType(field.type, own);
  }
}

function describeType(type, described) {
  if (type.type === "array") describeType(type.elementType, described.items);
  if (type.type === "reflection") describeFields(type.declaration, described);
}

function commentOf(text) {
  return new Comment([{ kind: "text", text }]);
}
