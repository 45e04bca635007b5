/**
 * A Redis connection that sends all commands of one turn of the event loop as one write. A write costs a system call in
 * this process and one in Redis; under load that is more than the command itself costs. ioredis writes each command by
 * itself, and its automatic pipelines make a single command wait longer.
 */
import { Redis } from "ioredis";

export class JoinedRedis extends Redis {
  override sendCommand(...args: Parameters<Redis["sendCommand"]>): ReturnType<Redis["sendCommand"]> {
    // Undefined while there is no connection; then ioredis queues the commands itself.
    const stream = this.stream as Redis["stream"] | undefined;
    if (stream?.writable && stream.writableCorked === 0) {
      stream.cork();
      setImmediate(() => stream.uncork());
    }
    return super.sendCommand(...args);
  }
}
