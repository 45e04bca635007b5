/**
 * The WebSocket frames of log lines. The viewers of one step get the same bytes, so the bytes of a part of a log are made
 * once and kept as long as the part is in memory.
 */
import { logEntry, type LogSource } from "../app/following/log-entry.ts";
import type { LogPart } from "../app/following/log-pages.ts";
import { type Echo, messageWriter } from "./messages.ts";

/** First byte of the frame of a whole text message. Source: RFC 6455, section 5.2. */
const TEXT_FRAME = 0x81;
const TWO_BYTE_LENGTH = 126;
const EIGHT_BYTE_LENGTH = 127;
const MAX_TWO_BYTES = 0xffff;

export interface FramedPart {
  readonly type: "log_chunk" | "log";
  readonly part: LogPart;
  readonly source: LogSource;
  readonly echo: Echo;
}

export class LogFrames {
  readonly #frames = new WeakMap<LogPart, Map<string, Buffer>>();

  /** One message with all lines for `log_chunk`; a message for each line for `log`. */
  of({ type, part, source, echo }: FramedPart): Buffer {
    let known = this.#frames.get(part);
    if (known === undefined) this.#frames.set(part, (known = new Map<string, Buffer>()));
    const key = JSON.stringify([type, source, echo]);
    let frames = known.get(key);
    if (frames === undefined) {
      const write = messageWriter({ ...echo, type });
      const entries = part.map((line) => logEntry(line, source));
      frames = framesOf(type === "log_chunk" ? [write(entries)] : entries.map(write));
      known.set(key, frames);
    }
    return frames;
  }
}

/** The frames of text messages, one behind the other, as a server sends them. */
export function framesOf(texts: readonly string[]): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const size = lengths.reduce((sum, length) => sum + headLength(length) + length, 0);
  const frames = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const [index, text] of texts.entries()) {
    const length = lengths[index]!;
    frames[at] = TEXT_FRAME;
    if (length < TWO_BYTE_LENGTH) {
      frames[at + 1] = length;
    } else if (length <= MAX_TWO_BYTES) {
      frames[at + 1] = TWO_BYTE_LENGTH;
      frames.writeUInt16BE(length, at + 2);
    } else {
      frames[at + 1] = EIGHT_BYTE_LENGTH;
      frames.writeBigUInt64BE(BigInt(length), at + 2);
    }
    at += headLength(length);
    at += frames.write(text, at);
  }
  return frames;
}

function headLength(length: number): number {
  if (length < TWO_BYTE_LENGTH) return 2;
  return length <= MAX_TWO_BYTES ? 4 : 10;
}
