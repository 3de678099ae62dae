import { expect } from "chai";
import fc from "fast-check";
import { Chain, type Link } from "../../src/runtime/chain.js";

describe("runtime/chain", () => {
  it("add() and remove() keep what a Set would, in its order", () => {
    const step = fc.record({ adds: fc.boolean(), at: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const chain = new Chain<number>();
        const links: Link<number>[] = [];
        const expected = new Set<number>();
        for (const { adds, at } of steps) {
          if (adds) {
            expected.add(links.length);
            links.push(chain.add(links.length));
          } else {
            const link = links[at];
            if (link) expect(chain.remove(link)).to.equal(expected.delete(at));
          }
          expect(chain.values()).to.deep.equal([...expected]);
          expect(chain.size).to.equal(expected.size);
        }
      }),
    );
  });

  it("remove() leaves nothing that leads from a member that has gone to one that is there", () => {
    const chain = new Chain<string>();
    const [first, gone, last] = [chain.add("first"), chain.add("gone"), chain.add("last")];
    chain.remove(gone);
    expect([gone.before, gone.after]).to.deep.equal([undefined, undefined]);
    expect([first.after, last.before]).to.deep.equal([last, first]);
  });

  it("drain() takes out who is there, and passes over who goes or comes meanwhile", () => {
    const chain = new Chain<string>();
    chain.add("first");
    const second = chain.add("second");
    chain.add("third");
    const taken: string[] = [];
    chain.drain((member) => {
      if (taken.push(member) > 1) return;
      chain.remove(second);
      chain.add("late");
    });
    expect(taken).to.deep.equal(["first", "third"]);
    expect(chain.values()).to.deep.equal(["late"]);
  });
});
