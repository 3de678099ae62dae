import { PassThrough, Writable } from "node:stream";
import { expect } from "chai";
import { EXIT } from "../../src/cli/exit-codes.js";
import { Terminal } from "../../src/cli/terminal.js";

interface Made {
  readonly terminal: Terminal;
  readonly said: () => string;
}

function made(stdout: NodeJS.WritableStream = new PassThrough(), env: Record<string, string> = {}): Made {
  const stderr = new PassThrough();
  const terminal = new Terminal({ cwd: "/", stdin: new PassThrough(), stdout, stderr, env });
  return { terminal, said: () => String(stderr.read() ?? "") };
}

/** A stream that fails to write. */
function failing(code: string): Writable {
  return new Writable({
    write(_chunk, _encoding, done) {
      done(Object.assign(new Error(code), { code }));
    },
  });
}

describe("Terminal", () => {
  it("note() writes control characters out, and none of its lines passes for another entry", () => {
    const { terminal, said } = made();
    terminal.note("info: one\r\nwarning: fake\u001b[1A\u001b[2K\rb\u009b31m\u0007\u007f\u202e\n\n");
    expect(said()).to.equal("info: one\n  warning: fake\\u001b[1A\\u001b[2K\\u000db\\u009b31m\\u0007\\u007f\\u202e\n");
  });

  it("note() styles around what it was given, not within", () => {
    const { terminal, said } = made(undefined, { FORCE_COLOR: "1" });
    terminal.note("a\u001b[39mb", "red");
    expect(said()).to.equal("\u001b[31ma\\u001b[39mb\u001b[39m\n");
  });

  it("print() says once, in one line, that the output cannot be written", async () => {
    const { terminal, said } = made(failing("ENOSPC"));
    await terminal.print("x");
    await terminal.print("y");
    expect(said()).to.equal("toolcell: the output cannot be written (ENOSPC).\n");
    expect(terminal.gone.aborted).to.equal(true);
    expect(terminal.exitCode(EXIT.ok)).to.equal(EXIT.output);
  });

  it("print() says nothing where nobody reads any more", async () => {
    const { terminal, said } = made(failing("EPIPE"));
    await terminal.print("x");
    expect(said()).to.equal("");
    expect(terminal.exitCode(EXIT.failed)).to.equal(EXIT.pipe);
  });
});
