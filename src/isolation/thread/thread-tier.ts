/** The thread tier: each cell is a Piscina worker with its own permissions, environment and heap limit. */
import { emptyGrant } from "../../runtime/grant.js";
import type { CellCall, CellRequest, CellSource, CellTier } from "../../runtime/cell.js";
import { cellLimits, type ResolvedOptions } from "../../runtime/options.js";
import { codeFiles } from "./code-files.js";
import { ThreadCell, type LeaseSettings } from "./lease.js";
import { ModuleReader } from "./module-reader.js";
import { nodeFacts } from "./node-facts.js";
import { CellWorker } from "./worker-pool.js";
import { isGrantable, STAND_IN, threadEnforcement, workerProfile, type WorkerProfile } from "./worker-profile.js";
import { WorkerShelf } from "./worker-shelf.js";

type ModuleSource = CellSource & { kind: "module" };

/** Milliseconds after a start until the spare that it took is replaced. */
const RESTOCK_AFTER_MS = 25;

/** Makes the thread tier. */
export function threadTier(options: ResolvedOptions): CellTier {
  return new ThreadTier(options);
}

class ThreadTier implements CellTier {
  readonly tier = "thread";
  readonly bounded = true;
  readonly enforcement = threadEnforcement;
  readonly hostHeapFlag = nodeFacts().hostHeapFlag;
  readonly #options: ResolvedOptions;
  readonly #shelf: WorkerShelf;
  readonly #settings: LeaseSettings;
  readonly #reader: ModuleReader;
  /** Code of the modules that are expected, by URL and then by what is named beside it: tools may share a module. */
  readonly #code = new Map<string, Map<string, Promise<ReadonlySet<string>>>>();
  /** What a spare reads while it rehearses. */
  #standIn: Promise<Iterable<string>> | undefined;
  /** How often each module was registered: its file may have changed in between. */
  readonly #epochs = new Map<string, number>();
  readonly #quarantined = new Set<CellWorker>();
  #stocking: NodeJS.Immediate | undefined;
  #restocking: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: ResolvedOptions) {
    this.#options = options;
    const { spareCells, killTimeoutMs, recycleAfterCalls = Infinity, recycleHeapMb } = options;
    this.#shelf = new WorkerShelf({ spareCells, killTimeoutMs, maxIdle: options.maxLiveCells });
    this.#settings = {
      slots: options.maxCallsPerCell + 1,
      limits: cellLimits(options),
      killTimeoutMs,
      recycleAfterCalls,
      recycleHeapBytes: recycleHeapMb === undefined ? undefined : recycleHeapMb * 1024 * 1024,
      reuse: (worker) => {
        this.#shelf.give(worker);
      },
      quarantine: (worker) => {
        this.#quarantined.add(worker);
        void worker.exited.then(() => this.#quarantined.delete(worker));
      },
    };
    this.#reader = new ModuleReader(options.memoryMb, this.#settings);
  }

  get quarantined(): number {
    return this.#quarantined.size;
  }

  get ready(): { readonly spare: number; readonly warm: number } {
    const { spares, size } = this.#shelf;
    return { spare: spares, warm: size - spares };
  }

  accepts(source: CellSource): boolean {
    return source.kind === "module";
  }

  expect(source: CellSource): void {
    if (source.kind !== "module") return;
    this.forget(source);
    this.#epochs.set(source.url, this.#epochOf(source) + 1);
    // Who starts a cell hears what is wrong with it.
    this.#codeOf(source).catch(() => undefined);
    // Tools that are registered in one go share one spare.
    this.#stocking ??= setImmediate(() => {
      this.#stocking = undefined;
      void this.#stock();
    });
  }

  forget(source: CellSource): void {
    if (source.kind !== "module") return;
    this.#shelf.forget(this.#keyOf(source));
    this.#code.delete(source.url);
  }

  async start<Call extends CellCall>(request: CellRequest<Call>): Promise<ThreadCell<Call>> {
    const source = request.source as ModuleSource;
    // Settled before the first wait: the file may be registered anew while the cell starts.
    const module = this.#keyOf(source);
    const profile = workerProfile(request.grant, await this.#codeOf(source));
    const { stateless } = request;
    const worker =
      this.#shelf.take({ profile, module, stateless }) ?? new CellWorker(await this.#widened(request, profile));
    worker.served = module;
    try {
      return await ThreadCell.start(worker, request, this.#settings);
    } finally {
      // One that fails has taken the spare too. Starting a thread at once would take the core from the call that waits.
      this.#restocking ??= setTimeout(() => {
        this.#restocking = undefined;
        void this.#stock();
      }, RESTOCK_AFTER_MS).unref();
    }
  }

  describe(source: ModuleSource, timeoutMs: number): Promise<unknown> {
    return this.#reader.read(source, timeoutMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#stocking) clearImmediate(this.#stocking);
    clearTimeout(this.#restocking);
    await this.#reader.close();
    await this.#shelf.close();
  }

  #epochOf(source: ModuleSource): number {
    return this.#epochs.get(source.url) ?? 0;
  }

  /** Names a module in the state its file was in when it was last registered. */
  #keyOf(source: ModuleSource): string {
    return `${this.#epochOf(source)} ${source.url}`;
  }

  #codeOf(source: ModuleSource): Promise<ReadonlySet<string>> {
    let ofModule = this.#code.get(source.url);
    if (!ofModule) this.#code.set(source.url, (ofModule = new Map<string, Promise<ReadonlySet<string>>>()));
    const named = JSON.stringify(source.codeFiles);
    let code = ofModule.get(named);
    if (!code) ofModule.set(named, (code = codeFiles(source.url, source.codeFiles)));
    return code;
  }

  /** Every cell may read the code of every expected tool, never its data: so one spare fits them all. */
  async #widened(request: CellRequest<CellCall>, profile: WorkerProfile): Promise<WorkerProfile> {
    return workerProfile(request.grant, new Set([...(await this.#allCode()), ...profile.code]));
  }

  /** A tool whose code cannot be followed or granted fails by itself and takes no other with it. */
  async #allCode(): Promise<Set<string>> {
    const all = new Set<string>();
    const modules = [...this.#code.values()].flatMap((ofModule) => [...ofModule.values()]);
    for (const code of await Promise.allSettled(modules)) {
      if (code.status === "rejected" || ![...code.value].every(isGrantable)) continue;
      for (const path of code.value) all.add(path);
    }
    return all;
  }

  async #stock(): Promise<void> {
    if (this.#options.spareCells === 0) return;
    // A spare that may not read it does not come up, and costs no more than that.
    this.#standIn ??= codeFiles(STAND_IN, []).catch(() => []);
    const code = [...(await this.#allCode()), ...(await this.#standIn)];
    if (this.#closed) return;
    try {
      this.#shelf.stock(workerProfile(emptyGrant(this.#options.memoryMb), new Set(code)));
    } catch {
      // What keeps a spare from being made keeps a cell from it too, and whoever starts one hears of it.
    }
  }
}
