/** Pages with blocks of code: those of the documentation, and the examples of the source's comments. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { packageFolder } from "../types/user-program.js";
import { blocksOf, linesOf, MODULES, type Block, type Line } from "./block.js";

/** What is read in one go; its blocks may import each other. */
export interface Page {
  readonly name: string;
  /** Its file in the package. */
  readonly path: string;
  readonly blocks: readonly Block[];
}

/** Every page that users and contributors read. */
export const PAGES: readonly Page[] = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(packageFolder, "docs")).map((name) => `docs/${name}`),
]
  .filter((name) => name.endsWith(".md"))
  .map((name) => ({ name, path: name, blocks: blocksOf(linesOf(readFileSync(join(packageFolder, name), "utf8"))) }));

/** A block, and where to look for it. */
export interface Placed {
  readonly page: Page;
  readonly block: Block;
  /** `docs/page.md:12` */
  readonly where: string;
}

/** The blocks of some pages in some languages. */
export function blocksIn(pages: readonly Page[], languages: readonly string[]): Placed[] {
  return pages.flatMap((page) =>
    page.blocks
      .filter(({ language }) => languages.includes(language))
      .map((block) => ({ page, block, where: `${page.path}:${block.number}` })),
  );
}

/** A block as a module. */
export interface Module extends Placed {
  /** Its name within the page. */
  readonly file: string;
  readonly lines: readonly Line[];
}

/** The modules of some pages. */
export function modulesIn(pages: readonly Page[]): Module[] {
  return blocksIn(pages, Object.keys(MODULES)).map((placed) => {
    const { page, block } = placed;
    const file = block.file ?? `block-${block.number}.${MODULES[block.language]!}`;
    return { ...placed, file, lines: moduleLines(page, block) };
  });
}

/**
 * The lines of a block's module. One that follows another stands at its end, in a scope of its own: it sees what the
 * other declares, and may declare it anew. A runtime is closed after both.
 */
function moduleLines(page: Page, block: Block): readonly Line[] {
  if (block.follows === undefined) return block.lines;
  const before = page.blocks.find(({ file }) => file === block.follows);
  if (!before) throw new Error(`${page.path}:${block.number} follows ${block.follows}, which no block of the page is`);
  const [imports, body] = withoutImports(block.lines);
  const close = before.lines.findLastIndex(({ text }) => text === "await runtime.close();");
  const end = close < 0 ? before.lines.length : close;
  const brace = (text: string): Line => ({ text, number: block.number });
  return [...imports, ...before.lines.slice(0, end), brace("{"), ...body, brace("}"), ...before.lines.slice(end)];
}

/** Imports stand in lines of their own. */
function withoutImports(lines: readonly Line[]): [imports: Line[], rest: Line[]] {
  const source = ts.createSourceFile("block.ts", lines.map(({ text }) => text).join("\n"), ts.ScriptTarget.Latest);
  const indices = source.statements.filter(ts.isImportDeclaration).flatMap((statement) => {
    const first = source.getLineAndCharacterOfPosition(statement.getStart(source)).line;
    const last = source.getLineAndCharacterOfPosition(statement.end).line;
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  return [lines.filter((_, index) => indices.includes(index)), lines.filter((_, index) => !indices.includes(index))];
}
