/** Calls of file tools; as a program, a process that gives root's rights up for good and then runs them. */
import { pathToFileURL } from "node:url";
import type { ToolAnswer, ToolContext } from "../../src/tool.js";
import { execute as deleteFile } from "../../tools/delete-file.js";
import { execute as editFile } from "../../tools/edit-file.js";
import { execute as hashFiles } from "../../tools/hash-files.js";
import { execute as listFiles } from "../../tools/list-files.js";
import { execute as makeFolder } from "../../tools/make-folder.js";
import { execute as moveFile } from "../../tools/move-file.js";
import { execute as readFile } from "../../tools/read-file.js";
import { execute as searchFiles } from "../../tools/search-files.js";
import type { Input as DeleteInput } from "../../tools/specs/delete-file.js";
import type { Input as EditInput } from "../../tools/specs/edit-file.js";
import type { Input as HashInput } from "../../tools/specs/hash-files.js";
import type { Input as ListInput } from "../../tools/specs/list-files.js";
import type { Input as MakeInput } from "../../tools/specs/make-folder.js";
import type { Input as MoveInput } from "../../tools/specs/move-file.js";
import type { Input as ReadInput } from "../../tools/specs/read-file.js";
import type { Input as SearchInput } from "../../tools/specs/search-files.js";
import type { Input as WriteInput } from "../../tools/specs/write-file.js";
import { execute as writeFile } from "../../tools/write-file.js";
import { fakeCall } from "./fake-context.js";

/** The user whom only the permissions of others concern. */
export const NOBODY = 65_534;

/** A call on the resource at `path`. */
export type ToolCall = { readonly path: string } & (
  | { readonly tool: "delete-file"; readonly input: DeleteInput }
  | { readonly tool: "edit-file"; readonly input: EditInput }
  | { readonly tool: "hash-files"; readonly input: HashInput }
  | { readonly tool: "list-files"; readonly input: ListInput }
  | { readonly tool: "make-folder"; readonly input: MakeInput }
  | { readonly tool: "move-file"; readonly input: MoveInput }
  | { readonly tool: "read-file"; readonly input: ReadInput }
  | { readonly tool: "search-files"; readonly input: SearchInput }
  | { readonly tool: "write-file"; readonly input: WriteInput }
);

/** Runs calls in this process, one after the other. */
export async function runCalls(calls: readonly ToolCall[]): Promise<ToolAnswer[]> {
  const answers: ToolAnswer[] = [];
  for (const { path, ...call } of calls) answers.push(await run(call, fakeCall({ path }).context));
  return answers;
}

/** `ToolCall` without its path. */
type Call = { [Each in ToolCall as Each["tool"]]: Pick<Each, "tool" | "input"> }[ToolCall["tool"]];

function run(call: Call, context: ToolContext): Promise<ToolAnswer> {
  switch (call.tool) {
    case "delete-file":
      return deleteFile(call.input, context);
    case "edit-file":
      return editFile(call.input, context);
    case "hash-files":
      return hashFiles(call.input, context);
    case "list-files":
      return listFiles(call.input, context);
    case "make-folder":
      return makeFolder(call.input, context);
    case "move-file":
      return moveFile(call.input, context);
    case "read-file":
      return readFile(call.input, context);
    case "search-files":
      return searchFiles(call.input, context);
    case "write-file":
      return writeFile(call.input, context);
  }
}

async function serve(calls: readonly ToolCall[]): Promise<void> {
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
  process.send?.(await runCalls(calls));
  process.disconnect();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.once("message", (calls: readonly ToolCall[]) => void serve(calls));
}
