import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { expect } from "chai";
import { type DeafBounds, endDeafReaders } from "../../src/http/server/deaf-readers.ts";

/** More than the buffers of two sockets on loopback take. */
const ANSWER_BYTES = 24 * 1_024 * 1_024;
const PIECE = Buffer.alloc(64 * 1_024);
const LONG_MS = 600_000;

describe("a caller who reads nothing of an answer", () => {
  const open: { readonly server: Server; readonly sockets: Socket[] }[] = [];
  afterEach(() => {
    for (const { server, sockets } of open.splice(0)) {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });

  /** `/whole` answers one large body, `/pieces` the same in pieces that are made as the caller reads. */
  async function start(bounds: DeafBounds) {
    const deaf = endDeafReaders({ monotonic: () => performance.now() }, bounds);
    const server = createServer((request, response) => {
      deaf.watch(request, response);
      if (request.url === "/whole") response.end(Buffer.alloc(ANSWER_BYTES));
      else Readable.from(Array.from({ length: ANSWER_BYTES / PIECE.length }, () => PIECE)).pipe(response);
    });
    deaf.bind(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const sockets: Socket[] = [];
    open.push({ server, sockets });
    const { port } = server.address() as AddressInfo;
    return async (path: string) => {
      const arrived = once(server, "connection") as Promise<[Socket]>;
      const socket = connect(port, "127.0.0.1");
      sockets.push(socket);
      const [peer] = await arrived;
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      return { socket, peer, ended: once(peer, "close") };
    };
  }

  for (const path of ["/whole", "/pieces"]) {
    it(`is ended after a time: ${path}`, async () => {
      const ask = await start({ answerMs: 200 });
      const { peer, ended } = await ask(path);
      await ended;
      expect(peer.writableLength, "bytes that wait").to.equal(0);
    });
  }

  it("is ended sooner when all answers take too much memory, and no caller who reads", async () => {
    const ask = await start({ answerMs: LONG_MS, bytes: ANSWER_BYTES * 1.5, deafMs: 100 });
    const deaf = [await ask("/whole"), await ask("/whole"), await ask("/whole")];
    // Two of three have to go: what is left of the last one fits.
    await Promise.race(deaf.map(({ ended }) => ended));
    const left = deaf.filter(({ peer }) => !peer.destroyed);
    if (left.length === 2) await Promise.race(left.map(({ ended }) => ended));
    expect(deaf.filter(({ peer }) => peer.destroyed)).to.have.length(2);
    const { socket } = await ask("/whole");
    let read = 0;
    socket.on("data", (bytes) => (read += bytes.length));
    socket.resume();
    while (read < ANSWER_BYTES) await once(socket, "data");
  });
});
