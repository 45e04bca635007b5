/** A network between two processes; a test can cut it, slow it down and silence it. */
import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { Transform } from "node:stream";

interface Connection {
  readonly client: Socket;
  readonly server: Socket;
}

/** Forwards connections to a port of this machine. Every fault applies to open connections and to new ones. */
export class TcpProxy {
  readonly #target: number;
  readonly #connections = new Set<Connection>();
  #listener: Server;
  #port = 0;
  #silent = false;
  #delayMs = 0;
  #cutEvery = 0;
  #requests = 0;
  #sentBytes = 0;
  #lostWith = "";

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

  /** What the clients have sent so far. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** Cuts open connections and refuses new ones, as when the host is gone. */
  async goDown(): Promise<void> {
    const closed = once(this.#listener, "close");
    this.#listener.close();
    for (const connection of this.#connections) end(connection);
    await closed;
  }

  async comeUp(): Promise<void> {
    this.#listener = this.#newListener();
    await this.#listen();
  }

  /**
   * Carries no bytes and closes no connection, as when packets are dropped. Bytes sent meanwhile arrive after `speak`.
   */
  fallSilent(): void {
    this.#silent = true;
    for (const { client, server } of this.#connections) {
      client.pause();
      server.pause();
    }
  }

  speak(): void {
    this.#silent = false;
    for (const { client, server } of this.#connections) {
      client.resume();
      server.resume();
    }
  }

  /** Delays each answer by this many milliseconds; 0 ends the delay. */
  slowDown(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Cuts the connection of every n-th request after the server has received it and before its answer; 0 ends this. */
  cutEvery(requests: number): void {
    this.#cutEvery = requests;
  }

  /**
   * The connection whose client sends this text next carries nothing any more, and stays open, as when a firewall has
   * forgotten it. Empty for none.
   */
  loseWith(text: string): void {
    this.#lostWith = text;
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
    const connection = { client, server };
    this.#connections.add(connection);
    for (const socket of [client, server]) {
      socket.on("error", () => end(connection));
      socket.on("close", () => {
        end(connection);
        this.#connections.delete(connection);
      });
    }
    client.on("data", (chunk) => {
      if (this.#lostWith !== "" && chunk.includes(this.#lostWith)) {
        this.#lostWith = "";
        client.pause();
        return;
      }
      this.#sentBytes += chunk.length;
      server.write(chunk);
      if (this.#cutEvery > 0 && ++this.#requests % this.#cutEvery === 0) {
        // The server receives the request; only its answer is lost.
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

function end({ client, server }: Connection): void {
  client.destroy();
  server.destroy();
}
