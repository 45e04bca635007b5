/**
 * A Redis connection whose commands of one turn of the event loop leave as one write. A write costs a system call here and
 * another one in Redis, under load more than the command itself. ioredis writes each command by itself; its own pipelines
 * make a single command wait for longer.
 */
import { Redis } from "ioredis";

export class JoinedRedis extends Redis {
  override sendCommand(...args: Parameters<Redis["sendCommand"]>): ReturnType<Redis["sendCommand"]> {
    // None while there is no connection; then ioredis queues commands by itself.
    const stream = this.stream as Redis["stream"] | undefined;
    if (stream?.writable && stream.writableCorked === 0) {
      stream.cork();
      setImmediate(() => stream.uncork());
    }
    return super.sendCommand(...args);
  }
}
