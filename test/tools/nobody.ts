/** Calls of file tools; as a program, a process that gives root's rights up for good and then runs them. */
import { pathToFileURL } from "node:url";
import type { ToolAnswer } from "../../src/tool.js";
import { execute as listFiles } from "../../tools/list-files.js";
import type { Input as ListInput } from "../../tools/specs/list-files.js";
import type { Input as WriteInput } from "../../tools/specs/write-file.js";
import { execute as writeFile } from "../../tools/write-file.js";
import { fakeCall } from "./fake-context.js";

/** The user whom only the permissions of others concern. */
export const NOBODY = 65_534;

/** A call on the resource at `path`. */
export type ToolCall = { readonly path: string } & (
  | { readonly tool: "list-files"; readonly input: ListInput }
  | { readonly tool: "write-file"; readonly input: WriteInput }
);

/** Runs calls in this process, one after the other. */
export async function runCalls(calls: readonly ToolCall[]): Promise<ToolAnswer[]> {
  const answers: ToolAnswer[] = [];
  for (const { path, ...call } of calls) {
    const { context } = fakeCall({ path });
    answers.push(
      call.tool === "list-files" ? await listFiles(call.input, context) : await writeFile(call.input, context),
    );
  }
  return answers;
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
