import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { EXIT } from "../../src/cli/exit-codes.js";
import { temporaryFolder } from "../fixtures/folder.js";

const MAIN = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));
const TOOL = `export const spec = { name: "my/deploy", description: "For tests.", inputSchema: {}, capability: { writes: false, requiresApproval: true } };
export const execute = () => "deployed";`;

/** Whether there is a `script` that gives a command a terminal of its own, and its exit code. */
function hasScript(): boolean {
  const { status, stdout } = spawnSync("script", ["-qec", "test -t 0 && exit 7", "/dev/null"], { input: "" });
  return status === 7 && String(stdout) === "";
}

describe("the command at a terminal", () => {
  const folder = temporaryFolder();
  let child: ChildProcess | undefined;

  before(function () {
    if (!hasScript()) this.skip(); // `script` of util-linux is not installed.
  });

  afterEach(() => {
    child?.kill("SIGKILL");
    child = undefined;
  });

  /** Types what stands against each text once that is shown. */
  const talk = async (answers: readonly (readonly [string, string])[]): Promise<{ code: number; shown: string }> => {
    folder().write("deploy.mjs", TOOL);
    const line = `"${process.execPath}" "${MAIN}" call --load deploy.mjs deploy`;
    child = spawn("script", ["-qec", line, "/dev/null"], {
      cwd: folder().path,
      env: { ...process.env, CI: "", USER: "ada" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const { stdin, stdout } = child;
    if (!stdin || !stdout) throw new Error("it has no pipes");
    const exited = once(child, "exit");
    const rest = [...answers];
    let shown = "";
    stdout.setEncoding("utf8").on("data", (chunk: string) => {
      shown += chunk;
      const [next] = rest;
      if (!next || !shown.includes(next[0])) return;
      rest.shift();
      stdin.write(next[1]);
    });
    const [code] = (await exited) as [number];
    return { code, shown };
  };

  it("call() asks, takes the answer and ends by itself", async () => {
    const yes = await talk([["Approve it? [y/N] ", "y\n"]]);
    expect(yes.code, yes.shown).to.equal(EXIT.ok);
    expect(yes.shown).to.include('"deployed"');
    const no = await talk([["Approve it? [y/N] ", "\n"]]);
    expect(no.code, no.shown).to.equal(EXIT.failed);
    expect(no.shown).to.include("declined by ada");
  });

  it("call() is cancelled by Ctrl-C while it asks", async () => {
    const { code, shown } = await talk([["Approve it? [y/N] ", "\u0003"]]);
    expect(code, shown).to.equal(EXIT.interrupted);
    expect(shown).to.include("Cancelling").and.not.include("deployed");
  });

  it("call() takes Ctrl-D for a no", async () => {
    const { code, shown } = await talk([["Approve it? [y/N] ", "\u0004"]]);
    expect(code, shown).to.equal(EXIT.failed);
    expect(shown).to.include("the input has ended");
  });
});
