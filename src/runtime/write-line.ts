/**
 * Calls that write, one at a time, in the order in which they came. The calls that a holder makes itself stand in a line
 * of their own within its turn: it waits for them, so they cannot wait for it.
 */

/** A line. */
export class WriteLine {
  readonly #emptied: () => void;
  readonly #waiting = new Set<WriteTurn>();
  #holder: WriteTurn | undefined;

  /** @param emptied called when nobody holds or waits any more */
  constructor(emptied: () => void) {
    this.#emptied = emptied;
  }

  /** Whether somebody holds the turn. Who waits, waits for a holder. */
  get busy(): boolean {
    return this.#holder !== undefined;
  }

  /** @returns a turn that is given now, or later */
  enter(): WriteTurn {
    const turn = new WriteTurn(this);
    if (this.#holder) this.#waiting.add(turn);
    else this.#give(turn);
    return turn;
  }

  /** @internal A turn is over, whether it was given or not. */
  left(turn: WriteTurn): void {
    if (this.#waiting.delete(turn) || this.#holder !== turn) return;
    this.#holder = undefined;
    const [next] = this.#waiting;
    if (next) {
      this.#waiting.delete(next);
      this.#give(next);
    } else this.#emptied();
  }

  #give(turn: WriteTurn): void {
    this.#holder = turn;
    turn.given();
  }
}

/** A place in a line, and the turn that comes of it. */
export class WriteTurn {
  readonly #line: WriteLine;
  #given = false;
  #ended = false;
  #over = false;
  #holds = 0;
  #inner: WriteLine | undefined;
  /** Called when a turn that had to be waited for is given. */
  onGiven: (() => void) | undefined;

  constructor(line: WriteLine) {
    this.#line = line;
  }

  /** Whether its holder may write. */
  get isGiven(): boolean {
    return this.#given;
  }

  /** Whether the next in line may have it. */
  get isOver(): boolean {
    return this.#over;
  }

  /** The line of the calls that the holder makes. */
  get inner(): WriteLine {
    this.#inner ??= new WriteLine(() => {
      this.#check();
    });
    return this.#inner;
  }

  /** @internal */
  given(): void {
    this.#given = true;
    this.onGiven?.();
  }

  /** Keeps the turn for a work that may outlast its holder. */
  async keepFor(work: Promise<unknown>): Promise<void> {
    this.#holds++;
    try {
      await work;
    } catch {
      // Whoever began the work hears of it.
    } finally {
      this.#holds--;
      this.#check();
    }
  }

  /** The holder is done. The turn goes on while calls of its own, or a work it is kept for, do. */
  end(): void {
    this.#ended = true;
    this.#check();
  }

  #check(): void {
    if (!this.#ended || this.#over || this.#holds > 0 || this.#inner?.busy === true) return;
    this.#over = true;
    this.#line.left(this);
  }
}
