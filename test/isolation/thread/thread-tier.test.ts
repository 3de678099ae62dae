import { expect } from "chai";
import sinon from "sinon";
import { WorkerShelf } from "../../../src/isolation/thread/worker-shelf.js";
import { temporaryFolder } from "../../fixtures/folder.js";
import { afterReadyWork, deferred, rejectionOf } from "../../support/outcomes.js";
import { ThreadBed } from "./thread-bed.js";

describe("isolation/thread/thread-tier", () => {
  const bed = new ThreadBed();
  const folder = temporaryFolder();
  afterEach(() => {
    sinon.restore();
  });

  it("start() has the spare replaced that it took, also where the tool is not made ready", async () => {
    const stocked = [deferred(), deferred()];
    const stock = sinon.stub(WorkerShelf.prototype, "stock").callsFake(() => {
      stocked[stock.callCount - 1]?.resolve();
    });
    bed.open({ spareCells: 1 });
    bed.module(folder().write("tool.mjs", `throw new Error("not now");`));
    await stocked[0]?.promise;
    await rejectionOf(bed.plan().activate("made/tool"));
    await stocked[1]?.promise;
    sinon.assert.calledTwice(stock);
  });

  it("expect() takes a spare that cannot be made for no loss: a start tells what is wrong", async () => {
    const stock = sinon.stub(WorkerShelf.prototype, "stock").throws(new Error("no current directory"));
    const unhandled = sinon.spy();
    process.on("unhandledRejection", unhandled);
    bed.open({ spareCells: 1 });
    bed.module(folder().write("tool.mjs", "export const execute = () => 1;"));
    const { output } = await bed.plan().execute("made/tool", {});
    await afterReadyWork();
    process.off("unhandledRejection", unhandled);
    expect(output).to.equal(1);
    sinon.assert.called(stock);
    sinon.assert.notCalled(unhandled);
  });
});
