import { expect } from "chai";
import { nearest } from "../src/nearest.js";

const TOOLS = ["builtin/read-file", "builtin/write-file", "builtin/hash-files"];

describe("nearest", () => {
  it("nearest() forgives case, slips, and a namespace that is left out", () => {
    expect(nearest("Read-Flie", TOOLS)).to.equal("builtin/read-file");
    expect(nearest("builtin/hash-file", TOOLS)).to.equal("builtin/hash-files");
    expect(nearest("timeout", ["signal", "timeoutMs"])).to.equal("timeoutMs");
  });

  it("nearest() takes the nearer of two", () => {
    expect(nearest("rite-file", TOOLS)).to.equal("builtin/write-file");
  });

  it("nearest() says nothing where nothing is near", () => {
    expect(nearest("compile", TOOLS)).to.equal(undefined);
    expect(nearest("", TOOLS)).to.equal(undefined);
    expect(nearest("x", [])).to.equal(undefined);
    expect(nearest("ab", ["xy"])).to.equal(undefined);
  });
});
