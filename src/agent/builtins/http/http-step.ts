/**
 * The builtin `http`: one request and its redirects. The log shows the method, the address and the status of each
 * request, and nothing else.
 */
import { isUtf8 } from "node:buffer";
import { MillraceError } from "../../../domain/errors.ts";
import { OUTPUT_BOUNDS } from "../../../domain/outputs.ts";
import type { BuiltinCall } from "../builtin-call.ts";
import { type HttpRequest, readHttpArgs } from "./http-args.ts";

const MAX_REDIRECTS = 5;
/** Upper bound on the part of an answer that is read. */
const MAX_READ_BYTES = 1_048_576;
/** How many characters of the body an error shows when the status is not expected. */
const SHOWN_BODY_CHARS = 200;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** The only headers that are sent to another host after a redirect. Any other header may hold a secret. */
const HARMLESS_HEADERS: readonly string[] = ["accept", "accept-language", "content-type", "user-agent"];

const DNS = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_NODATA", "EAI_NONAME"]);
const REACH = new Set(["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "EHOSTDOWN"]);
const SILENCE = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);
/** Codes of OpenSSL's checks of a certificate, and of Node's check of the name in it. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ISSUER/;
const TLS = /^ERR_SSL|^ERR_TLS|^EPROTO$/;

interface Answer {
  readonly status: number;
  readonly body: Buffer;
  /** Whether the body was longer than the part that was read. */
  readonly isCut: boolean;
}

/** Sends the request. Rejects with an error whose message is for users and holds no secret that `mask` knows. */
export async function sendRequest({ args, say, mask, output, signal }: BuiltinCall): Promise<void> {
  const { request: first, isExpected, output: outputName } = readHttpArgs(args);
  let request = first;
  for (let redirects = 0; ; redirects++) {
    const response = await send(request, signal);
    say(`${request.method} ${withoutQuery(mask(request.written))}: ${response.status}`);
    const location = REDIRECTS.includes(response.status) ? response.headers.get("location") : null;
    if (isExpected(response.status) || location === null) {
      const answer = await read(response, request);
      if (!isExpected(answer.status)) throw unexpected(answer, mask);
      if (outputName !== undefined) output(outputName, textOf(answer, outputName));
      return;
    }
    await response.body?.cancel();
    if (redirects === MAX_REDIRECTS) throw failed(`the address redirects more than ${MAX_REDIRECTS} times`);
    request = follow(request, response.status, location);
  }
}

async function send({ url, method, headers, body }: HttpRequest, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { method, headers, redirect: "manual", signal, ...(body === undefined ? {} : { body }) });
  } catch (error) {
    throw requestProblem(error, url.host);
  }
}

/** The request after a redirect. Source: https://fetch.spec.whatwg.org/#http-redirect-fetch; stricter across hosts. */
function follow(request: HttpRequest, status: number, location: string): HttpRequest {
  const target = URL.canParse(location, request.url.href) ? new URL(location, request.url) : undefined;
  if (target === undefined || !/^https?:$/.test(target.protocol)) {
    throw failed("it redirects to an address that is not http or https");
  }
  // A user name and password in the address come from the answer, not from the step, and are not sent.
  target.username = target.password = "";
  const becomesGet = status === 303 ? request.method !== "HEAD" : status < 303 && request.method === "POST";
  const method = becomesGet ? "GET" : request.method;
  const body = becomesGet ? undefined : request.body;
  const isElsewhere = target.origin !== request.url.origin;
  if (isElsewhere && body !== undefined) {
    throw failed(`it redirects the body to another host, ${target.host}: give that address as url`);
  }
  const kept = [...request.headers].filter(
    ([name]) => (!isElsewhere || HARMLESS_HEADERS.includes(name)) && (!becomesGet || name !== "content-type"),
  );
  return { url: target, written: target.href, method, headers: new Headers(kept), body };
}

function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, "").replaceAll(/\p{Cc}/gu, "");
}

async function read(response: Response, { url }: HttpRequest): Promise<Answer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      bytes += chunk.length;
      // Leaving the loop closes the connection.
      if (bytes > MAX_READ_BYTES) break;
    }
  } catch (error) {
    throw requestProblem(error, url.host);
  }
  const body = Buffer.concat(chunks).subarray(0, MAX_READ_BYTES);
  return { status: response.status, body, isCut: bytes > MAX_READ_BYTES };
}

function unexpected({ status, body }: Answer, mask: BuiltinCall["mask"]): MillraceError {
  // Masked before the text is cut, since a secret that is cut in two would not be recognized.
  const text = mask(body.toString())
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const shown = text.length > SHOWN_BODY_CHARS ? `${text.slice(0, SHOWN_BODY_CHARS)}...` : text;
  return failed(`the answer has the status ${status}${shown === "" ? " and no body" : `: ${shown}`}`);
}

function textOf({ body, isCut }: Answer, name: string): string {
  if (isCut || body.length + name.length > OUTPUT_BOUNDS.bytes) {
    throw failed(`the answer is longer than an output may be, ${OUTPUT_BOUNDS.bytes} bytes with its name`);
  }
  if (!isUtf8(body)) throw failed("the answer is no text in UTF-8, so it cannot be an output");
  return body.toString();
}

/**
 * Describes why a request failed, since Node's own message is only "fetch failed". Of the request it shows only the
 * host.
 */
function requestProblem(error: unknown, host: string): MillraceError {
  const code = codeOf(error);
  return new MillraceError("unavailable", `the request to ${host} failed: ${describeFailure(code)}`, { cause: error });
}

function describeFailure(code: string): string {
  if (DNS.has(code)) return `the host's name cannot be resolved (${code})`;
  if (code === "ECONNREFUSED") return "nothing there accepts connections (ECONNREFUSED)";
  if (REACH.has(code)) return `the host cannot be reached (${code})`;
  if (SILENCE.has(code)) return "the host did not answer for five minutes";
  if (CERTIFICATE.test(code)) return `the host's certificate is not trusted by this agent (${code})`;
  if (TLS.test(code)) return `no TLS connection can be made (${code})`;
  return `the connection broke off${code === "" ? "" : ` (${code})`}`;
}

/** The code of the error or of the first of its causes that has one; "" if there is none. */
function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === "string") return code;
  }
  return "";
}

function failed(text: string): MillraceError {
  return new MillraceError("conflict", text);
}
