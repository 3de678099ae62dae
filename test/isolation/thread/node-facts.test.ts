import { expect } from "chai";
import { nodeFacts } from "../../../src/isolation/thread/node-facts.js";

describe("nodeFacts()", () => {
  for (const [version, permissionFlag, cwd, drop, net, guard] of [
    ["20.19.0", "--experimental-permission", false, false, false, false],
    ["20.20.2", "--experimental-permission", false, false, false, false],
    ["22.12.0", "--experimental-permission", true, false, false, false],
    ["22.13.0", "--permission", true, false, false, false],
    ["22.15.0", "--permission", true, false, false, true],
    ["23.5.0", "--permission", true, false, false, true],
    ["24.20.9", "--permission", true, false, false, true],
    ["24.21.0", "--permission", true, true, false, true],
    ["25.0.0", "--permission", true, false, true, true],
    ["26.10.0", "--permission", true, true, true, true],
    ["27.0.0-nightly", "--permission", true, true, true, true],
  ] as const) {
    it(`knows Node ${version}`, () => {
      expect(nodeFacts(version, [])).to.deep.equal({
        permissionFlag,
        grantsCurrentDirectory: cwd,
        canDropCurrentDirectory: drop,
        holdsNetwork: net,
        guardsModules: guard,
        databaseEscapes: version === "22.13.0",
        hostHeapFlag: undefined,
      });
    });
  }

  it("finds the host's own heap limit, in each of its spellings", () => {
    for (const flag of ["--max-old-space-size=100", "--max_old_space_size=100"]) {
      expect(nodeFacts("24.0.0", ["--no-warnings", flag]).hostHeapFlag).to.equal(flag);
    }
    expect(nodeFacts("24.0.0", ["--max-semi-space-size=16"]).hostHeapFlag).to.equal(undefined);
  });

  it("agrees with the Node that runs", () => {
    const facts = nodeFacts();
    expect(process.allowedNodeEnvironmentFlags.has(facts.permissionFlag)).to.equal(true);
    expect(process.allowedNodeEnvironmentFlags.has("--allow-net")).to.equal(facts.holdsNetwork);
  });
});
