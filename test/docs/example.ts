/** The examples in the source's comments, each a page of its own. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { packageFolder } from "../types/user-program.js";
import { blocksOf, linesOf } from "./block.js";
import type { Page } from "./page.js";

/** An `@example`. */
export interface Example extends Page {
  /** What it shows: `ToolRuntime`, `Plan.execute`. */
  readonly symbol: string;
}

/** Every example of `src/`. */
export const EXAMPLES: readonly Example[] = readdirSync(join(packageFolder, "src"), { recursive: true })
  .map((name) => `src/${String(name).replaceAll("\\", "/")}`)
  .filter((path) => path.endsWith(".ts"))
  .sort()
  .flatMap(examplesOf);

function examplesOf(path: string): Example[] {
  const text = readFileSync(join(packageFolder, path), "utf8");
  if (!text.includes("@example")) return [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = linesOf(text);
  const examples: Example[] = [];
  const visit = (node: ts.Node, owners: readonly string[]): void => {
    const name = nameOf(node);
    const symbols = name === undefined ? owners : [...owners, name];
    for (const comment of ts.getJSDocCommentsAndTags(node)) {
      if (!ts.isJSDoc(comment) || comment.parent !== node) continue;
      for (const tag of comment.tags ?? []) {
        if (tag.tagName.text !== "example") continue;
        const [first, last] = [tag.pos, tag.end].map((at) => source.getLineAndCharacterOfPosition(at).line);
        const inside = lines.slice(first, last! + 1).map((line) => ({ ...line, text: withoutStar(line.text) }));
        const symbol = symbols.join(".");
        const number = examples.filter((each) => each.symbol === symbol).length;
        const name = `${path} ${symbol}${number === 0 ? "" : ` ${number + 1}`}`;
        examples.push({ name, path, symbol, blocks: blocksOf(inside) });
      }
    }
    ts.forEachChild(node, (child) => {
      visit(child, symbols);
    });
  };
  visit(source, []);
  return examples;
}

function nameOf(node: ts.Node): string | undefined {
  const { name } = node as ts.Node & { readonly name?: ts.Node };
  const named =
    ts.isClassDeclaration(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isClassElement(node) ||
    ts.isTypeElement(node);
  if (ts.isVariableStatement(node)) return node.declarationList.declarations[0]?.name.getText();
  return named && name ? name.getText() : undefined;
}

function withoutStar(text: string): string {
  return text.replace(/^ *\* ?/, "").replace(/ *\*\/$/, "");
}
