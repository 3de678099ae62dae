import { expect } from "chai";
import fc from "fast-check";
import { FairQueue } from "../../src/runtime/fair-queue.js";

const drain = <T>(queue: FairQueue<T>): T[] => {
  const taken: T[] = [];
  for (let member = queue.shift(); member !== undefined; member = queue.shift()) taken.push(member);
  return taken;
};

describe("runtime/fair-queue", () => {
  it("shift() serves plans in turn, and each plan's members in their order", () => {
    const queue = new FairQueue<string>();
    for (const member of ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]) queue.push(member.charAt(0), member);
    expect(queue.size).to.equal(7);
    expect(drain(queue)).to.deep.equal(["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
    expect(queue.size).to.equal(0);
  });

  it("shift() lets a plan that comes late not wait for another's whole line", () => {
    const queue = new FairQueue<string>();
    for (let index = 0; index < 1_000; index++) queue.push("busy", `busy${index}`);
    queue.shift();
    queue.push("late", "late");
    expect([queue.shift(), queue.shift()]).to.include("late");
  });

  it("push() takes a member once", () => {
    const queue = new FairQueue<string>();
    queue.push("a", "a1");
    queue.push("a", "a1");
    expect(queue.size).to.equal(1);
    expect(drain(queue)).to.deep.equal(["a1"]);
  });

  it("remove() says whether the member was waiting", () => {
    const queue = new FairQueue<string>();
    queue.push("a", "a1");
    expect(queue.remove("b", "a1")).to.equal(false);
    expect(queue.remove("a", "a2")).to.equal(false);
    expect(queue.remove("a", "a1")).to.equal(true);
    expect(queue.remove("a", "a1")).to.equal(false);
    expect(queue.size).to.equal(0);
    expect(queue.shift()).to.equal(undefined);
  });

  it("never loses, repeats or starves a member", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("push" as const), plan: fc.constantFrom("a", "b", "c", "__proto__") }),
      fc.record({ kind: fc.constant("shift" as const) }),
      fc.record({ kind: fc.constant("remove" as const), nth: fc.nat({ max: 10 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const queue = new FairQueue<{ plan: string; id: number }>();
        const waiting: { plan: string; id: number }[] = [];
        let lastId = 0;
        for (const each of steps) {
          if (each.kind === "push") {
            const member = { plan: each.plan, id: ++lastId };
            waiting.push(member);
            queue.push(each.plan, member);
          } else if (each.kind === "remove") {
            const [member] = waiting.splice(each.nth, 1);
            if (member) expect(queue.remove(member.plan, member)).to.equal(true);
          } else {
            const member = queue.shift();
            // Within its plan nobody is passed over.
            const first = waiting.find(({ plan }) => plan === member?.plan);
            expect(member).to.equal(waiting.length === 0 ? undefined : first);
            if (member) waiting.splice(waiting.indexOf(member), 1);
          }
          expect(queue.size).to.equal(waiting.length);
        }
        expect(drain(queue)).to.have.members(waiting);
      }),
      { numRuns: 200 },
    );
  });
});
