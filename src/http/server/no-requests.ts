/**
 * Answers to what arrives at the listener and is no request that Koa could serve: bytes that are not HTTP, headers that are too
 * large or too slow, and offers to speak another protocol. They get the error envelope, as every other refusal.
 */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { Server as TlsServer } from "node:https";
import type { Duplex } from "node:stream";
import { errorEnvelope } from "../../app/envelope.ts";
import type { Clock } from "../../domain/clock.ts";
import { MillraceError } from "../../domain/errors.ts";

/** What is wrong, by the code of the library's error; every other code is a text that is not HTTP. */
const FAULTS: Readonly<Record<string, () => MillraceError>> = {
  HPE_HEADER_OVERFLOW: () =>
    new MillraceError("headers_too_large", "the request line and the headers have more than 16 kB"),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: () =>
    new MillraceError("payload_too_large", "the extensions of the body's chunks are too large"),
  ERR_HTTP_REQUEST_TIMEOUT: () => new MillraceError("request_timeout", "the headers did not arrive in time"),
};

/** Headers that only concern the offer to change the protocol, besides `Connection`. */
const OF_AN_UPGRADE: readonly string[] = ["upgrade", "http2-settings"];

/** What a request was, as far as it could be read. */
interface RefusedRequest {
  readonly path: string;
  /** True for a `HEAD`, whose answer has no body. */
  readonly isHead?: boolean;
}

/** The error of the library for what its parser refuses. */
type ParserFault = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/** Answers what reaches `server` and is no request. */
export function refuseNoRequests(server: Server, clock: Pick<Clock, "now">): void {
  server.on("clientError", (fault: ParserFault, socket) => {
    if (!socket.writable || hasBegunAnswer(socket)) {
      socket.destroy(fault);
      return;
    }
    const error = (FAULTS[fault.code ?? ""] ?? notHttp)();
    const isHead = fault.rawPacket?.subarray(0, 5).toString("latin1") === "HEAD ";
    refuseOn(socket, error, { path: "", isHead }, clock.now());
  });
  server.on("connect", ({ url = "" }: IncomingMessage, socket: Duplex) => {
    refuseOn(socket, new MillraceError("method_not_allowed", "this server is no proxy"), { path: url }, clock.now());
  });
}

/** Ends a connection with an error as the answer to its request. `headers` are sent too. */
export function refuseOn(
  socket: Duplex,
  error: MillraceError,
  { path, isHead = false }: RefusedRequest,
  nowMs: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  const envelope = errorEnvelope(error, path, nowMs);
  const body = JSON.stringify(envelope);
  const all = {
    Connection: "close",
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once("finish", () => socket.destroy());
  // The caller may be gone, and then no caller needs the answer.
  socket.on("error", () => {});
  socket.end(`HTTP/1.1 ${envelope.code} ${STATUS_CODES[envelope.code]}\r\n${head.join("")}\r\n${isHead ? "" : body}`);
}

/**
 * Serves a request that offers another protocol as if it offered none, as HTTP allows: clients of HTTP/2 offer it to every
 * server that they reach without TLS. `head` is what has arrived behind the headers.
 */
export function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  const { rawHeaders } = request;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    const value = rawHeaders[at + 1]!;
    if (OF_AN_UPGRADE.includes(name.toLowerCase())) continue;
    lines.push(`${name}: ${name.toLowerCase() === "connection" ? withoutUpgrade(value) : value}`);
  }
  // The library reads the request again, from its first byte, as that of a new connection.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit(server instanceof TlsServer ? "secureConnection" : "connection", socket);
}

function withoutUpgrade(options: string): string {
  const kept = options
    .split(",")
    .filter((option) => !["upgrade", ...OF_AN_UPGRADE].includes(option.trim().toLowerCase()));
  return kept.length === 0 ? "keep-alive" : kept.join(",");
}

function notHttp(): MillraceError {
  return new MillraceError("malformed_request", "this is no request of HTTP/1.1");
}

/** Whether a part of an answer is sent: an error behind it would be taken for the rest of the answer. */
function hasBegunAnswer(socket: Duplex): boolean {
  // The library keeps the answer that a socket is sending in this member, and looks at it in the same place.
  const { _httpMessage: answer } = socket as Duplex & { readonly _httpMessage?: ServerResponse | null };
  return answer?.headersSent === true;
}
