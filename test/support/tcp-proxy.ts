/** A network between two processes that can be cut, slowed and silenced. */
import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { Transform } from "node:stream";

interface Line {
  readonly client: Socket;
  readonly server: Socket;
}

/** Forwards connections to a port of this machine. All faults hold for the connections that are open and for new ones. */
export class TcpProxy {
  readonly #target: number;
  readonly #lines = new Set<Line>();
  #listener: Server;
  #port = 0;
  #silent = false;
  #delayMs = 0;
  #cutEvery = 0;
  #requests = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#listener = this.#newListener();
  }

  static async start(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await proxy.#listen();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** Cuts what is open and refuses what is new, as when the host is gone. */
  async goDown(): Promise<void> {
    const closed = once(this.#listener, "close");
    this.#listener.close();
    for (const line of this.#lines) end(line);
    await closed;
  }

  async comeUp(): Promise<void> {
    this.#listener = this.#newListener();
    await this.#listen();
  }

  /** Carries nothing and says nothing, as when packets are dropped; what was sent meanwhile arrives when it `speak`s again. */
  fallSilent(): void {
    this.#silent = true;
    for (const { client, server } of this.#lines) {
      client.pause();
      server.pause();
    }
  }

  speak(): void {
    this.#silent = false;
    for (const { client, server } of this.#lines) {
      client.resume();
      server.resume();
    }
  }

  /** Each answer takes this much longer, milliseconds; 0 ends it. */
  slowDown(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Every n-th request reaches the server, but its connection is cut before the answer; 0 ends it. */
  cutEvery(requests: number): void {
    this.#cutEvery = requests;
  }

  async close(): Promise<void> {
    if (this.#listener.listening) await this.goDown();
  }

  #newListener(): Server {
    return createServer({ pauseOnConnect: true }, (client) => this.#connect(client));
  }

  async #listen(): Promise<void> {
    this.#listener.listen(this.#port, "127.0.0.1");
    await once(this.#listener, "listening");
    this.#port = (this.#listener.address() as { port: number }).port;
  }

  #connect(client: Socket): void {
    const server = createConnection({ host: "127.0.0.1", port: this.#target, noDelay: true });
    client.setNoDelay(true);
    const line = { client, server };
    this.#lines.add(line);
    for (const socket of [client, server]) {
      socket.on("error", () => end(line));
      socket.on("close", () => {
        end(line);
        this.#lines.delete(line);
      });
    }
    client.on("data", (chunk) => {
      server.write(chunk);
      if (this.#cutEvery > 0 && ++this.#requests % this.#cutEvery === 0) {
        // The request is on its way; only its answer is lost.
        server.end();
        client.destroy();
      }
    });
    server.pipe(this.#delayed()).pipe(client);
    if (this.#silent) server.pause();
    else client.resume();
  }

  #delayed(): Transform {
    return new Transform({
      transform: (chunk, _encoding, done) => {
        if (this.#delayMs === 0) done(null, chunk);
        else setTimeout(done, this.#delayMs, null, chunk);
      },
    });
  }
}

function end({ client, server }: Line): void {
  client.destroy();
  server.destroy();
}
