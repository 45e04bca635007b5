/**
 * A WebSocket that costs the benchmark little: it cuts what the server sends into messages and copies nothing. A server's
 * frames are unmasked, and this server never splits a message. Source: RFC 6455, section 5.
 */
import { request } from "node:http";
import type { Socket } from "node:net";

const TEXT = 0x1;
const PING = 0x9;
const PONG = 0xa;
const FINAL = 0x80;
const MASKED = 0x80;
/** A mask of zeros leaves the text as it is. */
const MASK = Buffer.alloc(4);

export interface RawSocket {
  send(text: string): void;
  destroy(): void;
}

interface Heard {
  readonly message: (text: Buffer) => void;
  /** Called once, however the connection ends. */
  readonly close: () => void;
}

/** Rejects when the server refuses the connection. */
export function openRawSocket(url: string, token: string, heard: Heard): Promise<RawSocket> {
  const headers = {
    authorization: `Bearer ${token}`,
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": Buffer.alloc(16).toString("base64"),
  };
  return new Promise((resolve, reject) => {
    const opening = request(url, { headers, agent: false });
    opening.on("error", reject);
    opening.on("response", ({ statusCode }) => reject(new Error(`a viewer was answered ${statusCode}`)));
    opening.on("upgrade", (_, socket: Socket, head) => {
      let rest: Buffer = Buffer.alloc(0);
      const take = (chunk: Buffer): void => {
        rest = readFrames(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), (opcode, payload) => {
          if (opcode === TEXT) heard.message(payload);
          else if (opcode === PING) socket.write(frameOf(PONG, payload));
        });
      };
      socket.on("data", take);
      socket.on("error", () => undefined);
      socket.once("close", heard.close);
      resolve({ send: (text) => void socket.write(frameOf(TEXT, Buffer.from(text))), destroy: () => socket.destroy() });
      if (head.length > 0) take(head);
    });
    opening.end();
  });
}

/** Answers the bytes of the last frame, when it is not complete. */
function readFrames(bytes: Buffer, each: (opcode: number, payload: Buffer) => void): Buffer {
  let at = 0;
  while (bytes.length - at >= 2) {
    const short = bytes[at + 1]! & ~MASKED;
    const head = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (bytes.length - at < head) break;
    const length =
      short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short === 126 ? bytes.readUInt16BE(at + 2) : short;
    if (bytes.length - at < head + length) break;
    each(bytes[at]! & 0xf, bytes.subarray(at + head, at + head + length));
    at += head + length;
  }
  return bytes.subarray(at);
}

/** A frame of a client, of less than 64 kB. */
function frameOf(opcode: number, payload: Buffer): Buffer {
  const isShort = payload.length < 126;
  const head = Buffer.alloc(isShort ? 2 : 4);
  head[0] = FINAL | opcode;
  head[1] = MASKED | (isShort ? payload.length : 126);
  if (!isShort) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, MASK, payload]);
}
