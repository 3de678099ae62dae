/** What a lease of a worker carries: the argument of the Piscina task that lasts as long as the lease. */
import type { MessagePort } from "node:worker_threads";
import type { CellLimits, ActivationMessage } from "./messages.js";

/** Which rules the worker lays on itself, beside its permission flags. */
export interface ConfinementMessage {
  /** Take the host's current directory away where Node can (it grants it unasked from 22 on). */
  readonly dropCurrentDirectory: string | undefined;
  readonly net: boolean;
  readonly spawn: boolean;
}

/** Argument of the task that makes a worker ready for its first lease. */
export interface ReadyMessage {
  /** `file:` URL of a tool that does nothing. */
  readonly module: string;
  readonly confinement: ConfinementMessage;
}

/** Argument of the lease task. */
export interface LeaseMessage {
  /** `file:` URL of the tool's module, by its real path. */
  readonly module: string;
  readonly activation: ActivationMessage;
  readonly confinement: ConfinementMessage;
  readonly cancelBuffer: SharedArrayBuffer;
  readonly slots: number;
  readonly limits: CellLimits;
  readonly controlPort: MessagePort;
  readonly callPort: MessagePort;
}
