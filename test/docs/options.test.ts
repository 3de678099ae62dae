import { join } from "node:path";
import { expect } from "chai";
import ts from "typescript";
import type { ToolRuntimeBounds } from "../../src/index.js";
import { resolveOptions } from "../../src/runtime/options.js";
import { thrownBy } from "../support/outcomes.js";
import { packageFolder, userProgram } from "../types/user-program.js";

/** What an editor shows of each option, by name. */
function shownOptions(): Map<string, string> {
  const path = join(packageFolder, "options.ts");
  const text = 'import type { ToolRuntimeBounds } from "toolcell";\nexport type Options = ToolRuntimeBounds;\n';
  const program = userProgram(packageFolder, new Map([[path, text]]));
  const checker = program.getTypeChecker();
  const alias = program.getSourceFile(path)!.statements.find(ts.isTypeAliasDeclaration)!;
  const properties = checker.getTypeAtLocation(alias).getProperties();
  return new Map(
    properties.map((property) => [property.name, ts.displayPartsToString(property.getDocumentationComment(checker))]),
  );
}

describe("docs of ToolRuntimeBounds", () => {
  let shown: Map<string, string>;

  before(function () {
    this.timeout(60_000);
    shown = shownOptions();
  });

  const resolve = (name: string, value: unknown): unknown =>
    resolveOptions({ [name]: value })[name as keyof ToolRuntimeBounds];

  it("every option says its default, which is what it takes", () => {
    const defaults = resolveOptions();
    expect([...shown.keys()]).to.have.members(Object.keys(defaults));
    for (const [name, text] of shown) {
      const said = /\bDefault (?:`(\w+)`|([\d,]*\d))[.,]/.exec(text);
      const value = defaults[name as keyof ToolRuntimeBounds];
      if (said) expect(said[1] ?? Number(said[2]!.replaceAll(",", "")), name).to.equal(value);
      // None, or one that depends on the host.
      else expect(text, name).to.match(/\bDefault: \w/);
    }
  });

  it("every number says its least value, below which it is refused", () => {
    const numbers = [...shown].filter(([name]) => name !== "outputValidation");
    expect(numbers.length).to.be.above(1);
    for (const [name, text] of numbers) {
      const least = Number(/\bAt least (\d+)\./.exec(text)?.[1]);
      expect(resolve(name, least), name).to.equal(least);
      expect(
        thrownBy(() => resolve(name, least - 1)),
        name,
      ).to.have.property("code", "INVALID_OPTIONS");
    }
  });
});
