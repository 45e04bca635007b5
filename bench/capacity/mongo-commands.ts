/** Counts the commands that pass to a server of MongoDB on this machine or another one. */
import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";

/** Each message begins with its length, a little-endian number of four bytes. Source: MongoDB wire protocol, "Standard Message Header". */
const LENGTH_BYTES = 4;
const DEFAULT_PORT = 27_017;

export class MongoCommands {
  readonly #target: URL;
  readonly #listener: Server;
  #count = 0;

  /** `url` names one host, without TLS. */
  static async start(url: string): Promise<MongoCommands> {
    const commands = new MongoCommands(new URL(url));
    commands.#listener.listen(0, "127.0.0.1");
    await once(commands.#listener, "listening");
    return commands;
  }

  private constructor(target: URL) {
    this.#target = target;
    this.#listener = createServer((client) => this.#connect(client));
  }

  /** The URL of the server through this counter. */
  get url(): string {
    const url = new URL(this.#target);
    url.host = `127.0.0.1:${(this.#listener.address() as AddressInfo).port}`;
    // Otherwise the driver learns the server's own address and goes past the counter.
    url.searchParams.set("directConnection", "true");
    return url.href;
  }

  /** Commands until now, those by which drivers watch the server included. */
  get count(): number {
    return this.#count;
  }

  /** No further connections. The open ones end with their clients. */
  close(): void {
    this.#listener.close();
  }

  #connect(client: Socket): void {
    const { hostname: host, port } = this.#target;
    const server = createConnection({ host, port: Number(port || DEFAULT_PORT), noDelay: true });
    const messages = new Messages();
    client.setNoDelay(true);
    client.on("data", (chunk) => (this.#count += messages.begunIn(chunk)));
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) {
      socket.on("error", () => {});
      socket.on("close", () => [client, server].forEach((each) => each.destroy()));
    }
  }
}

/** Tells the messages of a stream apart. */
export class Messages {
  #header = Buffer.alloc(0);
  /** What is still to come of the current message. */
  #left = 0;

  /** How many messages are known to begin in this part of the stream, or to have begun before with a part of their length. */
  begunIn(chunk: Uint8Array): number {
    let begun = 0;
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#left -= taken;
        at += taken;
        continue;
      }
      const taken = Math.min(LENGTH_BYTES - this.#header.length, chunk.length - at);
      this.#header = Buffer.concat([this.#header, chunk.subarray(at, at + taken)]);
      at += taken;
      if (this.#header.length < LENGTH_BYTES) break;
      this.#left = this.#header.readInt32LE() - LENGTH_BYTES;
      this.#header = Buffer.alloc(0);
      begun++;
    }
    return begun;
  }
}
