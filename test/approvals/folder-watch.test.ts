import { expect } from "chai";
import sinon from "sinon";
import { FolderWatch } from "../../src/approvals/folder-watch.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { afterReadyWork, deferred } from "../support/outcomes.js";

describe("approvals/folder-watch", () => {
  const folder = temporaryFolder();
  let clock: sinon.SinonFakeTimers;
  beforeEach(() => (clock = sinon.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })));
  afterEach(() => {
    clock.restore();
  });

  it("add() tells of what the host tells of", async () => {
    const watch = new FolderWatch({ folder: folder().path, list: sinon.stub().rejects() }, 500);
    const bell = watch.add("one");
    folder().write("one.decision.json", "{}");
    await bell.rung();
    watch.remove("one");
    expect(clock.countTimers()).to.equal(0);
  });

  it("add() looks at a folder that cannot be watched, and rings for whom something changed", async () => {
    const list = sinon.stub();
    const watch = new FolderWatch({ folder: folder().join("none"), list }, 500);
    const rung: string[] = [];
    for (const id of ["waits", "answered", "removed"]) {
      void watch
        .add(id)
        .rung()
        .then(() => rung.push(id));
    }
    list.resolves(
      new Map([
        ["waits", new Set(["request"])],
        ["answered", new Set(["request", "decision"])],
      ]),
    );
    clock.tick(499);
    expect(list.called).to.equal(false);
    clock.tick(1);
    await afterReadyWork();
    expect(rung).to.have.members(["answered", "removed"]);
    list.rejects(new Error("closed"));
    clock.tick(500);
    await afterReadyWork();
    expect(rung).to.have.members(["answered", "removed", "waits"]);
    for (const id of ["waits", "answered", "removed"]) watch.remove(id);
    expect(clock.countTimers()).to.equal(0);
  });

  it("add() does not look anew while it still looks", () => {
    const list = sinon.stub().returns(deferred().promise);
    const watch = new FolderWatch({ folder: folder().join("none"), list }, 500);
    watch.add("one");
    clock.tick(2_000);
    expect(list.callCount).to.equal(1);
    watch.remove("one");
  });
});
