import { dirname, join } from "node:path";
import { expect } from "chai";
import { ToolActivationError, type Enforcement } from "../../../src/index.js";
import { nodeFacts } from "../../../src/isolation/thread/node-facts.js";
import { HOST_FILE, threadEnforcement, workerProfile } from "../../../src/isolation/thread/worker-profile.js";
import { emptyGrant, type Grant } from "../../../src/runtime/grant.js";

const NODE_20 = nodeFacts("20.20.2", []);
const NODE_22 = nodeFacts("22.23.3", []);
const NODE_24 = nodeFacts("24.21.0", []);
const NODE_26 = nodeFacts("26.10.0", []);
const NO_CODE = new Set<string>();

function grant(given: Partial<Grant> = {}): Grant {
  return { ...emptyGrant(512), ...given };
}

describe("workerProfile()", () => {
  const coverage = process.env.NODE_V8_COVERAGE;

  beforeEach(() => {
    delete process.env.NODE_V8_COVERAGE;
  });
  afterEach(() => {
    if (coverage !== undefined) process.env.NODE_V8_COVERAGE = coverage;
    else delete process.env.NODE_V8_COVERAGE;
  });

  const flags = (given: Partial<Grant>, node = NODE_24): string[] => [
    ...workerProfile(grant(given), NO_CODE, node).execArgv,
  ];
  const readable = (given: Partial<Grant>, code: string[] = []): string[] =>
    workerProfile(grant(given), new Set(code), NODE_24)
      .execArgv.filter((flag) => flag.startsWith("--allow-fs-read="))
      .map((flag) => flag.slice("--allow-fs-read=".length));

  it("grants nothing but the worker's own files where nothing is granted", () => {
    const { env, resourceLimits, confinement, execArgv } = workerProfile(grant({ memoryMb: 64 }), NO_CODE, NODE_20);
    expect(execArgv[0]).to.equal("--experimental-permission");
    expect(
      execArgv.filter((flag) => flag.startsWith("--allow-")).every((flag) => flag.startsWith("--allow-fs-read=")),
    ).to.equal(true);
    expect(readable({})).to.include(HOST_FILE);
    expect(readable({})).to.have.length(2);
    expect(env).to.deep.equal({});
    expect(resourceLimits).to.deep.equal({ maxOldGenerationSizeMb: 64 });
    expect(confinement).to.deep.include({ net: false, spawn: false });
  });

  it("turns each part of a grant into a flag", () => {
    expect(flags({ read: ["/data"], write: ["/data/out"] })).to.include.members([
      "--permission",
      "--allow-fs-read=/data",
      "--allow-fs-write=/data/out",
    ]);
    expect(flags({ spawn: true })).to.include("--allow-child-process");
    expect(flags({ net: true }, NODE_26)).to.include("--allow-net");
    expect(flags({ net: ["example.org"] }, NODE_26)).to.include("--allow-net");
    expect(flags({ net: true }, NODE_24)).not.to.include("--allow-net");
    expect(flags({})).not.to.include.members(["--allow-worker", "--allow-addons", "--allow-wasi"]);
  });

  it("never grants a folder and what lies in it both, which Node 20 does not survive", () => {
    expect(
      readable({ read: ["/data/sub", "/data", "/data2", "/data/sub/deep"] }, ["/data/code.js"]),
    ).to.include.members(["/data", "/data2"]);
    for (const path of ["/data/sub", "/data/sub/deep", "/data/code.js"]) {
      expect(readable({ read: ["/data/sub", "/data", "/data/sub/deep"] }, ["/data/code.js"])).not.to.include(path);
    }
    expect(readable({ read: ["/"] })).to.deep.equal(["/"]);
    expect(readable({ read: ["/data", "/data"] }).filter((path) => path === "/data")).to.have.length(1);
  });

  it("refuses a path that would be read as a pattern", () => {
    for (const given of [{ read: ["/data/*"] }, { write: ["/a*b"] }]) {
      expect(() => workerProfile(grant(given), NO_CODE)).to.throw(ToolActivationError, /\*/);
    }
    expect(() => workerProfile(grant(), new Set(["/code/*.js"]))).to.throw(ToolActivationError, /wildcard/);
  });

  it("gives the environment that is granted, and no other", () => {
    expect(workerProfile(grant({ env: { A: "1" } }), NO_CODE).env).to.deep.equal({ A: "1" });
  });

  it("lets cells be measured where the host is", () => {
    process.env.NODE_V8_COVERAGE = "/coverage";
    expect(workerProfile(grant({ env: { A: "1" } }), NO_CODE).env).to.deep.equal({
      A: "1",
      NODE_V8_COVERAGE: "/coverage",
    });
  });

  it("takes the current directory away where Node gives it unasked, unless it is granted", () => {
    const dropped = (given: Partial<Grant>, node = NODE_24): string | undefined =>
      workerProfile(grant(given), NO_CODE, node).confinement.dropCurrentDirectory;
    expect(dropped({})).to.equal(process.cwd());
    expect(dropped({}, NODE_26)).to.equal(process.cwd());
    expect(dropped({}, NODE_20)).to.equal(undefined);
    expect(dropped({}, NODE_22)).to.equal(undefined);
    expect(dropped({ read: [process.cwd()] })).to.equal(undefined);
    expect(dropped({ read: ["/"] })).to.equal(undefined);
    expect(dropped({ read: [`${process.cwd()}/sub`] })).to.equal(process.cwd());
  });

  it("gives two profiles one key exactly where they grant the same", () => {
    const key = (given: Partial<Grant>): string => workerProfile(grant(given), NO_CODE).key;
    expect(key({ read: ["/b", "/a"] })).to.equal(key({ read: ["/a", "/b", "/a/sub"] }));
    expect(workerProfile(grant(), new Set(["/code.js"])).key).to.equal(key({}));
    const different = [
      {},
      { read: ["/a"] },
      { write: ["/a"] },
      { read: ["/a"], write: ["/a"] },
      { net: true },
      { spawn: true },
      { env: { A: "1" } },
      { env: { A: "2" } },
      { memoryMb: 64 },
    ].map(key);
    expect(new Set(different).size).to.equal(different.length);
  });
});

describe("threadEnforcement()", () => {
  const holds = (subject: string, given: Partial<Grant>, node = NODE_24): boolean | undefined =>
    threadEnforcement(grant(given), node).find((one) => one.subject === subject)?.holds;

  it("tells of every subject once", () => {
    for (const node of [NODE_20, NODE_22, NODE_24, NODE_26]) {
      expect(threadEnforcement(grant(), node).map(({ subject }) => subject)).to.deep.equal([
        ...["fs.read", "fs.write", "host.cwd", "net", "spawn", "env", "memory", "cpu"],
      ]);
    }
  });

  it("says that the current directory is open on Node 22 alone", () => {
    expect([NODE_20, NODE_22, NODE_24, NODE_26].map((node) => holds("host.cwd", {}, node))).to.deep.equal([
      true,
      false,
      true,
      true,
    ]);
  });

  it("says that the network is open on Node 20, and never that single hosts are held", () => {
    expect([NODE_20, NODE_22, NODE_24, NODE_26].map((node) => holds("net", {}, node))).to.deep.equal([
      false,
      true,
      true,
      true,
    ]);
    for (const node of [NODE_20, NODE_22, NODE_24, NODE_26]) {
      expect(holds("net", { net: ["example.org"] }, node)).to.equal(false);
    }
  });

  it("says that nothing holds a program that the tool may start", () => {
    for (const node of [NODE_20, NODE_22, NODE_24, NODE_26]) {
      const held = threadEnforcement(grant({ spawn: true }), node).filter((one) => one.holds);
      expect(held.map(({ subject }) => subject)).to.deep.equal(["spawn", "env"]);
    }
  });

  it("says what of the current directory is lent", () => {
    const told = (read: readonly string[], node = NODE_24): Pick<Enforcement, "granted" | "holds"> => {
      const { granted, holds } = threadEnforcement(grant({ read }), node).find(
        ({ subject }) => subject === "host.cwd",
      )!;
      return { granted, holds };
    };
    const inside = join(process.cwd(), "src");
    expect(told([inside])).to.deep.equal({ granted: inside, holds: true });
    expect(told([inside], NODE_22)).to.deep.equal({ granted: inside, holds: false });
    for (const lent of [process.cwd(), dirname(process.cwd())]) {
      expect(told([lent], NODE_22)).to.deep.equal({ granted: `all of it, by ${lent}`, holds: true });
    }
    expect(told(["/elsewhere"])).to.deep.equal({ granted: "nothing", holds: true });
  });

  it("never says that memory is held, and says when the host's own limit stands over it", () => {
    const memory = (hostFlags: string[]): string | undefined =>
      threadEnforcement(grant(), nodeFacts("24.21.0", hostFlags)).find(({ subject }) => subject === "memory")
        ?.enforcedBy;
    expect(holds("memory", {})).to.equal(false);
    expect(memory(["--max-old-space-size=4096"])).to.contain("--max-old-space-size=4096");
    expect(memory([])).to.contain("buffers are outside");
  });

  it("names what is granted", () => {
    const told = threadEnforcement(
      grant({ read: ["/a"], write: ["/b"], env: { KEY: "secret value" }, memoryMb: 64 }),
      NODE_24,
    );
    const granted = Object.fromEntries(told.map((one) => [one.subject, one.granted]));
    expect(granted["fs.read"]).to.contain("/a");
    expect(granted["fs.write"]).to.equal("/b");
    expect(granted.env).to.equal("KEY");
    expect(granted.memory).to.contain("64 MiB");
    expect(JSON.stringify(told)).not.to.contain("secret value");
  });
});
