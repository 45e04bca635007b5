/** The network between the agent and the control plane of the conformance suite: a proxy at one address, which can be cut. */
import { createConnection, createServer, type Server, type Socket } from "node:net";
import type { Address } from "../../settings/values.ts";
import { cannotListen, reachableAddress } from "../../node/listen.ts";

export class Network {
  readonly #target: Address;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #isCut = false;

  private constructor(target: Address) {
    this.#target = target;
    this.#server = createServer((client) => this.#connect(client));
  }

  /** Listens at `address`, port 0 for a free one, and forwards to `target`. Rejects with `conflict` or `unavailable` when it cannot listen. */
  static async open(address: Address, target: Address): Promise<{ readonly network: Network; readonly at: string }> {
    const network = new Network(target);
    await new Promise<void>((resolve, reject) => {
      network.#server.once("error", (error) => reject(cannotListen(address, "--address", error)));
      network.#server.listen({ port: address.port, ...(address.host === "" ? {} : { host: address.host }) }, resolve);
    });
    const { port } = network.#server.address() as { port: number };
    return { network, at: reachableAddress({ host: address.host, port }) };
  }

  /** Closes every connection, and every new one until {@link restore}. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  restore(): void {
    this.#isCut = false;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  #connect(client: Socket): void {
    if (this.#isCut) return void client.destroy();
    const upstream = createConnection({ ...this.#target, noDelay: true });
    client.setNoDelay(true);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}
