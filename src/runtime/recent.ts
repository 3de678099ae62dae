/** A list that keeps its newest members and counts all. */
export class Recent<T> {
  readonly #limit: number;
  #members: T[] = [];
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(member: T): void {
    this.#count++;
    this.#members.push(member);
    // Trimming at twice the limit moves each member once on average.
    if (this.#members.length >= this.#limit * 2) this.#members = this.#members.slice(-this.#limit);
  }

  /** The newest, oldest first. */
  get members(): readonly T[] {
    return this.#members.slice(-this.#limit);
  }

  /** How many were ever added. */
  get count(): number {
    return this.#count;
  }
}
