/** The builtin `http`: one request, with what it redirects to; the log has its method, address and status, and nothing else of it. */
import { isUtf8 } from "node:buffer";
import { MillraceError } from "../../../domain/errors.ts";
import { OUTPUT_BOUNDS } from "../../../domain/outputs.ts";
import type { BuiltinCall } from "../builtin-call.ts";
import { type HttpRequest, readHttpArgs } from "./http-args.ts";
import { requestProblem } from "./http-problem.ts";

const MAX_REDIRECTS = 5;
/** Of an answer: what is read of it. */
const MAX_READ_BYTES = 1_048_576;
/** Of the body of an answer with another status: what is told. */
const TOLD_CHARS = 200;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** All others may hold a secret, whatever their names: another host does not get them. */
const HARMLESS_HEADERS: readonly string[] = ["accept", "accept-language", "content-type", "user-agent"];

interface Answer {
  readonly status: number;
  readonly body: Buffer;
  /** There was more of it. */
  readonly isCut: boolean;
}

/** Rejects with what is wrong: for people, without a secret that `mask` knows. */
export async function sendRequest({ args, say, mask, output, signal }: BuiltinCall): Promise<void> {
  const order = readHttpArgs(args);
  let { request } = order;
  for (let redirects = 0; ; redirects++) {
    const response = await send(request, signal);
    say(`${request.method} ${withoutQuery(mask(request.written))}: ${response.status}`);
    const location = REDIRECTS.includes(response.status) ? response.headers.get("location") : null;
    if (order.isExpected(response.status) || location === null) {
      const answer = await read(response, request);
      if (!order.isExpected(answer.status)) throw unexpected(answer, mask);
      if (order.output !== undefined) output(order.output, textOf(answer, order.output));
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

/** Source: https://fetch.spec.whatwg.org/#http-redirect-fetch, and stricter across hosts. */
function follow(request: HttpRequest, status: number, location: string): HttpRequest {
  const target = URL.canParse(location, request.url.href) ? new URL(location, request.url) : undefined;
  if (target === undefined || !/^https?:$/.test(target.protocol)) {
    throw failed("it redirects to what is no http or https address");
  }
  // Names and passwords would come out of the answer, and are none of ours.
  target.username = target.password = "";
  const becomesGet = status === 303 ? request.method !== "HEAD" : status < 303 && request.method === "POST";
  const method = becomesGet ? "GET" : request.method;
  const body = becomesGet ? undefined : request.body;
  const isElsewhere = target.origin !== request.url.origin;
  if (isElsewhere && body !== undefined) {
    throw failed(`it redirects what is sent to another host, ${target.host}: give that address as url`);
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
      // Leaving the loop ends the connection.
      if (bytes > MAX_READ_BYTES) break;
    }
  } catch (error) {
    throw requestProblem(error, url.host);
  }
  const body = Buffer.concat(chunks).subarray(0, MAX_READ_BYTES);
  return { status: response.status, body, isCut: bytes > MAX_READ_BYTES };
}

function unexpected({ status, body }: Answer, mask: BuiltinCall["mask"]): MillraceError {
  // A secret that is cut off could not be found any more.
  const text = mask(body.toString())
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const told = text.length > TOLD_CHARS ? `${text.slice(0, TOLD_CHARS)}...` : text;
  return failed(`the answer has the status ${status}${told === "" ? " and no body" : `: ${told}`}`);
}

function textOf({ body, isCut }: Answer, name: string): string {
  if (isCut || body.length + name.length > OUTPUT_BOUNDS.bytes) {
    throw failed(`the answer is longer than an output may be, ${OUTPUT_BOUNDS.bytes} bytes with its name`);
  }
  if (!isUtf8(body)) throw failed("the answer is no text in UTF-8, so it cannot be an output");
  return body.toString();
}

function failed(text: string): MillraceError {
  return new MillraceError("conflict", text);
}
