import { expect } from "chai";
import { CellWorker } from "../../../src/isolation/thread/worker-pool.js";
import { workerProfile } from "../../../src/isolation/thread/worker-profile.js";
import { emptyGrant } from "../../../src/runtime/grant.js";
import { codeOf, rejectionOf } from "../../support/outcomes.js";

describe("CellWorker", () => {
  it("warm() rejects where no thread can be made, and there is none to kill", async () => {
    const profile = workerProfile(emptyGrant(64), new Set());
    const worker = new CellWorker({ ...profile, execArgv: ["--no-such-flag"] });
    expect(codeOf(await rejectionOf(worker.warm()))).to.equal("ERR_WORKER_INVALID_EXEC_ARGV");
    expect(worker.threadId).to.equal(undefined);
    expect(await worker.kill(1_000)).to.equal(true);
  });
});
