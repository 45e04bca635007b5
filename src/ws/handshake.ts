/** Who may open a WebSocket. This is checked before the upgrade, so that a refusal is an HTTP answer with the error envelope. */
import type { IncomingMessage } from "node:http";
import { authenticate } from "../app/identity/access.ts";
import { isOwnOrigin, proveRequest, type PublicUrl } from "../app/identity/request-proof.ts";
import type { AppContext } from "../app/context.ts";
import type { Proof } from "../app/identity/sessions.ts";
import { errorEnvelope, publicError } from "../app/envelope.ts";
import { MillraceError } from "../domain/errors.ts";

const PATH = "/api/v1/ws";
/** The sub-protocol that browsers offer beside `bearer.<token>`. The server answers this one, never the token. */
const PROTOCOL = "millrace.v1";
const TOKEN_PREFIX = "bearer.";

/**
 * The caller of an upgrade request, with its token. Throws `not_found` for another path, `forbidden` for a page from another origin,
 * `malformed_request` for a token that is offered without the sub-protocol `millrace.v1`, and `unauthenticated`.
 */
export async function admit(context: AppContext, publicUrl: PublicUrl, request: IncomingMessage): Promise<Proof> {
  const { headers } = request;
  const { origin } = headers;
  if (pathOf(request) !== PATH) throw new MillraceError("not_found", `no WebSocket is at ${pathOf(request)}`);
  // Browsers name the origin of the page that connects. Pages of other origins are refused, as the HTTP API refuses them.
  if (origin !== undefined && !isOwnOrigin(headers, publicUrl)) {
    throw new MillraceError("forbidden", `pages from ${origin} may not open a WebSocket here`);
  }
  const offered = offeredProtocols(request);
  const offeredToken = offered.find((protocol) => protocol.startsWith(TOKEN_PREFIX))?.slice(TOKEN_PREFIX.length);
  if (offeredToken !== undefined && !offered.includes(PROTOCOL)) {
    throw new MillraceError("malformed_request", `offer the sub-protocol ${PROTOCOL} beside ${TOKEN_PREFIX}<token>`);
  }
  if (headers.authorization === undefined && offeredToken !== undefined) {
    return { bearer: offeredToken, caller: await authenticate(context, offeredToken) };
  }
  const ticket = new URLSearchParams((request.url ?? "").split("?")[1]).get("ticket") ?? undefined;
  // A socket follows the rights of its caller for hours, so a page of another site must not open one.
  return proveRequest(context, publicUrl, { headers, isSafe: false, ticket });
}

/** The sub-protocol that the server answers; false for none. */
export function chooseProtocol(offered: ReadonlySet<string>): string | false {
  return offered.has(PROTOCOL) ? PROTOCOL : false;
}

/** Status, body and headers of a refused upgrade. */
export function refusal(context: AppContext, request: IncomingMessage, thrown: unknown) {
  const error = publicError(thrown, "try again, or tell an administrator when it happened", (internal) =>
    context.log.error({ error: String(internal) }, "a WebSocket handshake failed"),
  );
  const envelope = errorEnvelope(error, pathOf(request), context.clock.now());
  return { status: envelope.code, body: JSON.stringify(envelope), headers: { "Content-Type": "application/json" } };
}

/** The path of a request, without its query. */
export function pathOf({ url }: IncomingMessage): string {
  return (url ?? "").split("?", 1)[0]!;
}

function offeredProtocols(request: IncomingMessage): string[] {
  return (request.headers["sec-websocket-protocol"] ?? "").split(",").map((protocol) => protocol.trim());
}
