/** Type-checks programs as a user's compiler does, against what the package's entries say after a build. */
import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** The package's folder. A file in it gets `toolcell` and `toolcell/tool` by the package's own `exports`. */
export const packageFolder = fileURLToPath(new URL("../../../", import.meta.url));

/** A strict project of today, JavaScript checked as well. */
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ["node"],
  strict: true,
  skipLibCheck: true,
  allowJs: true,
  checkJs: true,
  noEmit: true,
};

/** One thing that the compiler has to say. */
interface Complaint {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly code: number;
  readonly message: string;
}

/**
 * A program of files by path, none of which has to be on the disk.
 * @param folder the project's, from which types are looked up
 */
export function userProgram(folder: string, files: ReadonlyMap<string, string>): ts.Program {
  const options = { ...OPTIONS, typeRoots: [`${folder}/node_modules/@types`] };
  const host = ts.createCompilerHost(options);
  const folders = new Set([...files.keys()].map((path) => dirname(path)));
  const { fileExists, readFile, directoryExists } = host;
  host.getCurrentDirectory = () => folder;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.directoryExists = (path) => folders.has(path) || (directoryExists?.(path) ?? true);
  return ts.createProgram([...files.keys()], options, host);
}

/** What the compiler has to say of the program's own files. */
export function complaintsOf(program: ts.Program, files: Iterable<string>): Complaint[] {
  const sources = [...files].map((path) => program.getSourceFile(path));
  const found = [
    ...program.getOptionsDiagnostics(),
    ...sources.flatMap((source) => [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ]),
  ];
  return found.map(({ file, start, code, messageText }) => ({
    file: file ? relative(program.getCurrentDirectory(), file.fileName) : "",
    line: file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0,
    code,
    message: ts.flattenDiagnosticMessageText(messageText, "\n"),
  }));
}
