/** A queue that serves plans in turn, and each plan's members in their order. */
export class FairQueue<T> {
  readonly #plans = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(planId: string, member: T): void {
    let members = this.#plans.get(planId);
    if (!members) this.#plans.set(planId, (members = new Set()));
    if (members.has(member)) return;
    members.add(member);
    this.#size++;
  }

  /** Takes the next member of the plan that has waited longest for a turn. */
  shift(): T | undefined {
    for (const [planId, members] of this.#plans) {
      const [member] = members;
      this.#plans.delete(planId);
      if (member === undefined) continue;
      members.delete(member);
      this.#size--;
      // The plan goes to the end of the line.
      if (members.size > 0) this.#plans.set(planId, members);
      return member;
    }
    return undefined;
  }

  /** @returns whether the member was waiting */
  remove(planId: string, member: T): boolean {
    const members = this.#plans.get(planId);
    if (!members?.delete(member)) return false;
    this.#size--;
    if (members.size === 0) this.#plans.delete(planId);
    return true;
  }
}
