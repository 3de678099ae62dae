/** What is measured side by side: ways to have another thread do something. */

/** A task that never ends, in a thread that cannot hear anything any more. */
export interface Hung {
  /** Ends it by the means that the peer has for that. Resolves when its call has ended, or when all is done that can be. */
  stop(): Promise<unknown>;
  /** A call that the thread which was stopped would have served. */
  next(): Promise<unknown>;
}

/** One thread, and a way to call it. */
export interface Peer {
  /** The thread gives a value back. */
  echo(value: unknown): Promise<unknown>;
  /** The thread gives a buffer back that is copied both ways. */
  copy(data: ArrayBuffer): Promise<unknown>;
  /** The thread gives a buffer back that is handed over. */
  handOver(data: ArrayBuffer): Promise<ArrayBuffer>;
  /** Resolves once a task that never ends is running. */
  hang(): Promise<Hung>;
  close(): Promise<unknown>;
}

/** How to get a peer, and what is particular about it. */
export interface PeerKind {
  readonly name: string;
  /** A pool of threads, which is what toolcell is measured against; else it is what pools are made of. */
  readonly pool: boolean;
  /** How it ends a task that never ends. */
  readonly stops: string;
  /** Whether the call of such a task ends; where it does not, its caller waits for ever. */
  readonly settles: boolean;
  /** Whether a buffer comes back without a copy. */
  readonly handsBack: boolean;
  start(): Peer;
}
