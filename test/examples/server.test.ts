import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";

const SERVER = fileURLToPath(new URL("../../examples/server.js", import.meta.url));

describe("examples/server", () => {
  let child: ChildProcess | undefined;
  afterEach(() => {
    child?.kill("SIGKILL");
  });

  it("serves health and a tool, and ends when it is told to", async () => {
    child = spawn(process.execPath, [SERVER], { stdio: ["ignore", "pipe", "inherit"] });
    if (!child.stdout) throw new Error("the child has no pipe");
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const url = /http:\S+(?=:)/.exec(line)?.[0] ?? "";
    const get = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
    const [burnt, health] = await Promise.all([get("/burn"), get("/health")]);
    expect(health).to.equal("ok\n");
    expect(Number(burnt)).to.be.greaterThan(0);
    child.kill("SIGINT");
    expect(await once(child, "exit")).to.deep.equal([0, null]);
  });

  it("measures health on its own thread and in cells", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [SERVER, "--measure"]);
    expect(stdout).to.match(/^on this thread +\/health p50 .* requests\nin cells +\/health p50 .* requests\n$/);
  });
});
