/**
 * A mend of the driver's connections. In its releases up to 7.9.0 a command waits for ever whose connection ends before all of
 * it is sent: that wait ends with an error of the socket, and a socket that is closed tells of none. A look at the server that
 * waits like this is the driver's last one: no call of the process finds a server any more.
 * Source: https://github.com/mongodb/node-mongodb-native/blob/v7.8.0/src/cmap/connection.ts, `writeCommand`
 */
import type { EventEmitter } from "node:events";
import { createRequire } from "node:module";

interface DriverConnection {
  readonly closed: boolean;
  readonly socket: EventEmitter;
  cleanup: (this: DriverConnection, error: Error) => void;
}

/** Has whoever waits for the socket of a connection hear of its end. Call once, before the first client is made. */
export function mendConnections(): void {
  const load = createRequire(import.meta.url);
  const { prototype } = (load("mongodb/lib/cmap/connection.js") as { Connection: { prototype: DriverConnection } })
    .Connection;
  const { cleanup } = prototype;
  prototype.cleanup = function (error) {
    const wasOpen = !this.closed;
    cleanup.call(this, error);
    if (wasOpen) this.socket.emit("error", error);
  };
}
