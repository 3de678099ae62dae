/** `toolcell checkpoints`: what is in a store of checkpoints. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { DirectoryCheckpoints, ToolRuntimeError, type DirectoryCheckpoint } from "../../index.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { table } from "../table.js";
import type { Terminal } from "../terminal.js";
import { UsageError } from "../usage-error.js";

/** Options of the command. */
export interface CheckpointsOptions {
  /** Folder of the store. */
  readonly store: string;
  readonly json?: boolean;
}

export async function checkpoints(terminal: Terminal, { store, json }: CheckpointsOptions): Promise<ExitCode> {
  const opened = await openStore(terminal, store);
  return await reporting(terminal, async () => {
    const found = await opened.list();
    if (json) await terminal.print(JSON.stringify(found, undefined, 2));
    else if (found.length === 0) terminal.note("There is no checkpoint.");
    else await terminal.print(draw(found));
  });
}

/** Opens a store that is there. @throws UsageError where it is not: one that is made by mistake would look empty */
export async function openStore(terminal: Terminal, store: string): Promise<DirectoryCheckpoints> {
  const folder = resolve(terminal.host.cwd, store);
  const isFolder = await stat(folder).then(
    (info) => info.isDirectory(),
    () => false,
  );
  if (!isFolder)
    throw new UsageError(`There is no folder "${folder}"; --store names the one that --checkpoints named.`);
  return new DirectoryCheckpoints({ folder });
}

/** Works on a store. What is wrong with it is said in one line. @throws UsageError where there is no such checkpoint */
export async function reporting(terminal: Terminal, work: () => Promise<void>): Promise<ExitCode> {
  try {
    await work();
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof ToolRuntimeError)) throw error;
    if (error.code === "INVALID_ARGUMENT") throw new UsageError(error.message);
    terminal.note(terminal.style("red", `toolcell: ${error.message}`, "stderr"));
    return EXIT.failed;
  }
}

function draw(found: readonly DirectoryCheckpoint[]): string {
  return table(
    [
      { title: "checkpoint", left: true, cell: ({ checkpointId }) => checkpointId },
      { title: "taken", left: true, cell: ({ createdAt }) => createdAt },
      { title: "plan", left: true, cell: ({ planId }) => planId },
      { title: "before", left: true, cell: ({ toolName, callId }) => `${toolName} ${callId}` },
      { title: "files", cell: ({ files }) => String(files) },
      { title: "bytes", cell: ({ bytes }) => String(bytes) },
    ],
    found,
  );
}
