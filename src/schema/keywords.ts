/** Keywords whose code in ajv is quadratic, inexact, or trips over names such as `valueOf`. */
import { Name, _, type CodeKeywordDefinition, type KeywordCxt } from "ajv";
import { equalJson, firstDuplicate, isMember, isMultiple } from "./equality.js";
import { countKeys } from "./meter.js";
import type { SchemaNode } from "./shape.js";

/** Writes the code of one keyword. */
export type KeywordCode = CodeKeywordDefinition["code"];

/** The collected names, as an object in which nothing else is found. */
function ownNames(names: unknown): unknown {
  return typeof names === "object" ? Object.assign(Object.create(null) as SchemaNode, names) : names;
}

/** Keywords of which a branch may fail, or not be taken, without the value failing. */
const BRANCHING = new Set(["anyOf", "oneOf", "if", "dependentSchemas"]);

/**
 * Moves what was evaluated so far into variables. ajv makes them inside the first branch that evaluates something, and
 * forgets what came before wherever that branch is not taken.
 */
function keepEvaluated({ gen, it }: KeywordCxt): void {
  const { props, items } = it;
  if (typeof props === "object" && !(props instanceof Name)) {
    it.props = gen.let("props", _`Object.assign({}, ${gen.scopeValue("obj", { ref: props })})`);
  }
  if (typeof items === "number") it.items = gen.let("items", _`${items}`);
}

const REPLACED: Readonly<Record<string, (cxt: KeywordCxt, original: KeywordCode) => void>> = {
  uniqueItems(cxt) {
    if (cxt.schema !== true) return;
    const find = cxt.gen.scopeValue("func", { ref: firstDuplicate });
    const found = cxt.gen.const("duplicate", _`${find}(${cxt.data})`);
    cxt.setParams({ i: _`${found}.later`, j: _`${found}.earlier` });
    cxt.fail(_`${found} !== undefined`);
  },
  multipleOf(cxt) {
    cxt.fail(_`!${cxt.gen.scopeValue("func", { ref: isMultiple })}(${cxt.data}, ${cxt.schemaCode})`);
  },
  minProperties(cxt) {
    cxt.fail(_`${cxt.gen.scopeValue("func", { ref: countKeys })}(${cxt.data}) < ${cxt.schemaCode}`);
  },
  maxProperties(cxt) {
    cxt.fail(_`${cxt.gen.scopeValue("func", { ref: countKeys })}(${cxt.data}) > ${cxt.schemaCode}`);
  },
  const(cxt, original) {
    if (typeof cxt.schema !== "object" || cxt.schema === null) original(cxt);
    else cxt.fail(_`!${cxt.gen.scopeValue("func", { ref: equalJson })}(${cxt.data}, ${cxt.schemaCode})`);
  },
  anyOf(cxt, original) {
    const branches = cxt.schema as readonly unknown[];
    // Each branch in ajv nests in the one before, unless it has to look at all of them.
    if (branches.length <= 50 || cxt.it.opts.unevaluated === true) {
      original(cxt);
      return;
    }
    const { gen } = cxt;
    const valid = gen.let("valid", false);
    const branchValid = gen.name("_valid");
    branches.forEach((_branch, schemaProp) => {
      gen.if(_`!${valid}`, () => {
        cxt.subschema({ keyword: "anyOf", schemaProp, compositeRule: true }, branchValid);
        gen.assign(valid, branchValid);
      });
    });
    cxt.result(
      valid,
      () => cxt.reset(),
      () => cxt.error(true),
    );
  },
  if(cxt, original) {
    const { gen, it, parentSchema } = cxt;
    // ajv counts what an `if` evaluated also where it failed, and not at all where nothing follows from it.
    if (it.opts.unevaluated !== true) {
      original(cxt);
      return;
    }
    const valid = gen.let("valid", true);
    const branchValid = gen.name("_valid");
    const condition = { keyword: "if", compositeRule: true, createErrors: false, allErrors: false } as const;
    cxt.mergeValidEvaluated(cxt.subschema(condition, branchValid), branchValid);
    cxt.reset();
    const clause = gen.let("clause");
    cxt.setParams({ ifClause: clause });
    const apply = (keyword: string) => (): void => {
      if (parentSchema[keyword] === undefined) return;
      const branch = cxt.subschema({ keyword }, branchValid);
      gen.assign(valid, branchValid);
      gen.assign(clause, _`${keyword}`);
      cxt.mergeValidEvaluated(branch, valid);
    };
    gen.if(branchValid, apply("then"), apply("else"));
    cxt.pass(valid, () => cxt.error(true));
  },
  unevaluatedProperties(cxt, original) {
    const { gen, it } = cxt;
    const { props } = it;
    // ajv collects the names in an object with a prototype, or compares with each of them in turn.
    if (props instanceof Name) it.props = gen.const("own", _`${gen.scopeValue("func", { ref: ownNames })}(${props})`);
    else if (typeof props === "object" && Object.keys(props).length > 8) {
      it.props = gen.const("own", gen.scopeValue("obj", { ref: ownNames(props) }));
    }
    original(cxt);
  },
  unevaluatedItems(cxt, original) {
    const { gen, it } = cxt;
    const { items } = it;
    // What ajv takes for a number may be true, and is undefined where no branch evaluated any.
    if (items instanceof Name) it.items = gen.const("seen", _`${items} === true ? Infinity : ${items} || 0`);
    original(cxt);
  },
  enum(cxt, original) {
    const allowed = cxt.schema as readonly unknown[];
    const few = allowed.length <= 8 && allowed.every((value) => typeof value !== "object" || value === null);
    if (few && allowed.length > 0) original(cxt);
    else cxt.fail(_`!${cxt.gen.scopeValue("func", { ref: isMember })}(${cxt.data}, ${cxt.schemaCode})`);
  },
};

/** The code of a keyword: ours where there is one, which may fall back to ajv's. */
export function keywordCode(keyword: string, original: KeywordCode): KeywordCode {
  const replaced = Object.hasOwn(REPLACED, keyword) ? REPLACED[keyword] : undefined;
  const code: KeywordCode = replaced === undefined ? original : (cxt) => replaced(cxt, original);
  if (!BRANCHING.has(keyword)) return code;
  return (cxt, ruleType) => {
    if (cxt.it.opts.unevaluated === true) keepEvaluated(cxt);
    code(cxt, ruleType);
  };
}
