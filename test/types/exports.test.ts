import { join } from "node:path";
import { expect } from "chai";
import ts from "typescript";
import { packageFolder, userProgram } from "./user-program.js";

/** Types that are met in what an entry exports but that the entry does not export, each with where it is met. */
function unnamed(program: ts.Program, checker: ts.TypeChecker, entry: string): string[] {
  const resolved = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const ours = (node: ts.Node): boolean => {
    const { fileName } = node.getSourceFile();
    return fileName.startsWith(join(packageFolder, "dist/")) && !fileName.includes("/node_modules/");
  };
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry)!)!;
  const exported = new Set(checker.getExportsOfModule(module).map(resolved));
  const seen = new Set<ts.Symbol>();
  const missing = new Set<string>();

  const visit = (symbol: ts.Symbol, owner: string, withConstructor = true): void => {
    if (seen.has(symbol)) return;
    seen.add(symbol);
    for (const declaration of symbol.declarations ?? []) {
      if (!ours(declaration)) continue;
      ts.forEachChild(declaration, (part) => {
        if (withConstructor || !ts.isConstructorDeclaration(part)) walk(part, owner);
      });
    }
  };

  const walk = (node: ts.Node, owner: string): void => {
    if (ts.getJSDocTags(node).some(({ tagName }) => tagName.text === "internal")) return;
    if (ts.isHeritageClause(node)) {
      inherit(node, owner);
      return;
    }
    // What `typeof value` says is written out where it is met.
    if (ts.isTypeQueryNode(node)) return;
    if (ts.isTypeReferenceNode(node)) meet(node.typeName, owner);
    ts.forEachChild(node, (part) => {
      walk(part, owner);
    });
  };

  /** A base is met by its members only, which are those of who extends it. */
  const inherit = ({ types, parent }: ts.HeritageClause, owner: string): void => {
    const ownConstructor = parent.members.some((member) => ts.isConstructorDeclaration(member));
    for (const type of types) {
      const symbol = checker.getSymbolAtLocation(type.expression);
      if (symbol) visit(resolved(symbol), owner, !ownConstructor);
      for (const argument of type.typeArguments ?? []) walk(argument, owner);
    }
  };

  const meet = (name: ts.EntityName, owner: string): void => {
    const found = checker.getSymbolAtLocation(name);
    const symbol = found && resolved(found);
    const [declaration] = symbol?.declarations ?? [];
    if (!symbol || !declaration || !ours(declaration) || symbol.flags & ts.SymbolFlags.TypeParameter) return;
    if (exported.has(symbol)) {
      visit(symbol, symbol.name);
      return;
    }
    // A short-hand that its own file keeps to itself is written out as well.
    const exportable = ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Export;
    if (ts.isTypeAliasDeclaration(declaration) && !exportable) {
      visit(symbol, owner);
      return;
    }
    missing.add(`${symbol.name}, met in ${owner}`);
  };

  for (const symbol of exported) visit(symbol, symbol.name);
  return [...missing].sort();
}

describe("types of the entries", () => {
  for (const name of ["index", "tool"]) {
    it(`${name} exports every type that its own types and signatures name`, () => {
      const entry = join(packageFolder, `dist/src/${name}.d.ts`);
      const program = userProgram(packageFolder, new Map([[join(packageFolder, "entry.ts"), `import "${entry}";`]]));
      expect(unnamed(program, program.getTypeChecker(), entry)).to.deep.equal([]);
    });
  }
});
