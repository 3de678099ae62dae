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
  return replaced === undefined ? original : (cxt) => replaced(cxt, original);
}
