/** Opens WebSockets with the package `ws`, because Node 20 has none of its own. */
import type { Socket } from "../../clients/typescript/src/index.ts";

export async function openSocket(url: string, protocols: readonly string[]): Promise<Socket> {
  const { WebSocket } = await import("ws");
  const socket = new WebSocket(url, [...protocols]);
  return Object.assign(socket, {
    // The closing handshake of a server that is gone would last for 30 s.
    close: () => socket.terminate(),
  }) as unknown as Socket;
}
