/**
 * The WebSocket frames of log lines. The viewers of one step get the same bytes, so the bytes of a part of a log are made
 * once and kept as long as the part is in memory.
 */
import { logEntryWriter, type LogSource } from "../app/following/log-entry.ts";
import type { LogPart } from "../app/following/log-pages.ts";
import type { Echo } from "./messages.ts";

/** First byte of the frame of a whole text message. Source: RFC 6455, section 5.2. */
const TEXT_FRAME = 0x81;
const TWO_BYTE_LENGTH = 126;
const EIGHT_BYTE_LENGTH = 127;
const MAX_TWO_BYTES = 0xffff;

/** How the lines of one log are written for subscriptions with the same parameters. */
export interface FrameStyle {
  /** Equal for styles that give the same bytes. */
  readonly key: string;
  /** The texts of the messages with these lines. */
  readonly texts: (part: LogPart) => readonly string[];
}

/** One message with all lines for `log_chunk`; a message for each line for `log`. */
export function frameStyle(type: "log_chunk" | "log", source: LogSource, echo: Echo): FrameStyle {
  const head = `${JSON.stringify({ ...echo, type }).slice(0, -1)},"data":`;
  const entry = logEntryWriter(source);
  return {
    key: JSON.stringify([type, source, echo]),
    texts:
      type === "log_chunk"
        ? (part) => [`${head}[${part.map(entry).join(",")}]}`]
        : (part) => part.map((line) => `${head}${entry(line)}}`),
  };
}

export class LogFrames {
  readonly #frames = new WeakMap<LogPart, Map<string, Buffer>>();

  of(part: LogPart, { key, texts }: FrameStyle): Buffer {
    let known = this.#frames.get(part);
    if (known === undefined) this.#frames.set(part, (known = new Map<string, Buffer>()));
    let frames = known.get(key);
    if (frames === undefined) known.set(key, (frames = framesOf(texts(part))));
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
