/** Native code that holds a cell's thread so that nobody can end it, until a test lets go of it. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** Holds threads. */
export class Blocker {
  readonly #server: Server;
  readonly #sockets: Socket[] = [];
  /** A statement for the fixture `script`, with capability spawn: waits for a process, which waits for its connection to here. */
  readonly code: string;
  /** Resolves when a thread is held. */
  readonly holds: Promise<unknown>;

  private constructor(server: Server) {
    this.#server = server;
    this.holds = once(server, "connection");
    server.on("connection", (socket) => this.#sockets.push(socket));
    const { port } = server.address() as AddressInfo;
    const args = JSON.stringify(["-e", `require("node:net").connect(${port}, "127.0.0.1")`]);
    this.code = `require("node:child_process").execFileSync(${JSON.stringify(process.execPath)}, ${args});`;
  }

  static async open(): Promise<Blocker> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Blocker(server);
  }

  letGo(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
