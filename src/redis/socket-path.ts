/** The limit of a socket's path. It stands alone, so that an agent, which uses no Redis, does not load a client of Redis. */

/** The longest path of a socket: `sun_path` has 104 bytes on macOS and 108 on Linux, including the final zero. */
const SOCKET_PATH_BYTES = 103;

/** True when the path is short enough for a socket. */
export function isSocketPath(path: string): boolean {
  return Buffer.byteLength(path) <= SOCKET_PATH_BYTES;
}
