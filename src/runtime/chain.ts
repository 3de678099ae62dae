/**
 * A collection for what comes and goes with every call. A Map or a Set allocates a new table every few hundred changes
 * and V8 lets each old table point to the next: one that outlives a scavenge keeps all later ones alive, and the calls
 * in them, until a full collection. Here nothing is left of a member that has gone.
 */

/** One membership. */
export class Link<T> {
  readonly value: T;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
  /** Whether the member is still there. */
  linked = true;

  constructor(value: T, before: Link<T> | undefined) {
    this.value = value;
    this.before = before;
  }
}

/** Members in the order in which they came. */
export class Chain<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a member. @returns what takes it out again */
  add(value: T): Link<T> {
    const link = new Link(value, this.#last);
    if (this.#last) this.#last.after = link;
    else this.#first = link;
    this.#last = link;
    this.#size++;
    return link;
  }

  /** Takes a member out. @returns whether it was there */
  remove(link: Link<T>): boolean {
    if (!link.linked) return false;
    const { before, after } = link;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    link.before = link.after = undefined;
    link.linked = false;
    this.#size--;
    return true;
  }

  /** Takes out who is there now, one by one; who goes or comes meanwhile is passed over. */
  drain(take: (value: T) => void): void {
    const links: Link<T>[] = [];
    for (let link = this.#first; link; link = link.after) links.push(link);
    for (const link of links) if (this.remove(link)) take(link.value);
  }

  /** The members now; the list stays as it is while they come and go. */
  values(): T[] {
    const values: T[] = [];
    for (let link = this.#first; link; link = link.after) values.push(link.value);
    return values;
  }
}
