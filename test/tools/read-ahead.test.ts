import { expect } from "chai";
import { readAhead } from "../../tools/read-ahead.js";
import { rejectionOf } from "./fake-context.js";

async function* upTo(count: number): AsyncGenerator<number> {
  for (let at = 0; at < count; at++) yield at;
}

async function all<Result>(results: AsyncIterable<Result>): Promise<Result[]> {
  const gathered: Result[] = [];
  for await (const result of results) gathered.push(result);
  return gathered;
}

describe("tools/read-ahead", () => {
  it("readAhead() gives results in order, with no more under way than allowed", async () => {
    const doors: (() => void)[] = [];
    let most = 0;
    let running = 0;
    const work = async (thing: number): Promise<number> => {
      most = Math.max(most, ++running);
      await new Promise<void>((open) => {
        doors.push(open);
        // The last of three opens the doors, its own first.
        if (doors.length === 3 || thing === 6) for (const door of doors.splice(0).reverse()) door();
      });
      running--;
      return thing;
    };
    expect(
      await all(readAhead(upTo(7), { ahead: 3, work: async (thing) => (thing < 3 ? work(thing) : thing) })),
    ).to.deep.equal([0, 1, 2, 3, 4, 5, 6]);
    expect(most).to.equal(3);
  });

  it("readAhead() throws a failure when its turn comes, and discards what follows", async () => {
    const discarded: number[] = [];
    const given: number[] = [];
    const results = readAhead(upTo(9), {
      ahead: 4,
      work: async (thing) => {
        if (thing === 2) throw new Error("two");
        return thing;
      },
      discard: async (thing) => void discarded.push(thing),
    });
    const error = await rejectionOf(
      (async () => {
        for await (const each of results) given.push(each);
      })(),
    );
    expect(error).to.have.property("message", "two");
    expect(given).to.deep.equal([0, 1]);
    expect(discarded).to.deep.equal([3, 4, 5]);
  });

  it("readAhead() discards what nobody asks for any more", async () => {
    const discarded: number[] = [];
    const options = {
      ahead: 3,
      work: async (thing: number) => thing,
      discard: async (thing: number) => void discarded.push(thing),
    };
    for await (const each of readAhead(upTo(9), options)) if (each === 1) break;
    expect(discarded).to.deep.equal([2, 3]);
  });
});
