/** Tests of a listener that is slow to accept connections. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { listen } from "../../src/node/listen.ts";
import { TSX } from "../support/test-programs.ts";

/** Listens, prints the address, and computes from then on: it accepts no connection. */
const BUSY = `
  import { createServer } from "node:http";
  const { listen } = await import(${JSON.stringify(new URL("../../src/node/listen.ts", import.meta.url).href)});
  const address = await listen(createServer(), { host: "127.0.0.1", port: 0 }, "ADDRESS");
  process.stdout.write(address + "\\n", () => { for (;;); });
`;
const SOCKETS = 1_000;

describe("a listener", function () {
  this.timeout(30_000);

  it("says what to change when it cannot listen", async () => {
    const refusal = async (host: string, port: number): Promise<string> => {
      const server = createServer();
      try {
        await listen(server, { host, port }, "ADDRESS");
        return "";
      } catch (error) {
        return (error as Error).message;
      } finally {
        server.close();
      }
    };
    // An address for documents, which no machine has (RFC 5737).
    expect(await refusal("192.0.2.1", 80)).to.match(/EADDRNOTAVAIL.*one of its own with ADDRESS=HOST:PORT/);
    const first = createServer();
    const port = Number((await listen(first, { host: "127.0.0.1", port: 0 }, "ADDRESS")).split(":")[1]);
    expect(await refusal("127.0.0.1", port)).to.match(/is in use.*ADDRESS=127\.0\.0\.1:PORT/);
    first.close();
  });

  it("keeps no caller waiting who comes behind a thousand connections", async () => {
    const allowed = Number(await readFile("/proc/sys/net/core/somaxconn", "utf8"));
    expect(allowed, "connections that this system lets wait").to.be.above(SOCKETS);
    const busy = spawn(process.execPath, ["--import", TSX, "--input-type=module", "-e", BUSY], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const sockets: Socket[] = [];
    try {
      const [address] = (await once(createInterface(busy.stdout), "line")) as [string];
      const port = Number(address.split(":")[1]);
      for (let at = 0; at < SOCKETS; at++) sockets.push(connect(port, "127.0.0.1"));
      // The system connects them; without room for them, the last ones would wait until the listener accepts others.
      await Promise.all(sockets.map((socket) => once(socket, "connect")));
    } finally {
      for (const socket of sockets) socket.on("error", () => {}).destroy();
      busy.kill("SIGKILL");
    }
  });
});
