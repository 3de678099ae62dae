/** `toolcell restore ID`: brings back what a checkpoint has saved. */
import type { ExitCode } from "../exit-codes.js";
import type { Terminal } from "../terminal.js";
import { openStore, reporting } from "./checkpoints.js";

/** Options of the command. */
export interface RestoreOptions {
  /** Folder of the store. */
  readonly store: string;
}

export async function restore(terminal: Terminal, checkpointId: string, { store }: RestoreOptions): Promise<ExitCode> {
  const opened = await openStore(terminal, store);
  return await reporting(terminal, async () => {
    await opened.restore(checkpointId);
    terminal.note(`Restored ${checkpointId}.`);
  });
}
