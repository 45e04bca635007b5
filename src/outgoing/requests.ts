/**
 * Requests to receivers that users choose. The name of the receiver is resolved for each request, every address is checked,
 * and the connection goes to a checked address: so neither a changed name nor a redirect, which is not followed, leads to a
 * place that the rule refuses.
 */
import { type LookupAddress, lookup } from "node:dns";
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { AddressRule } from "./addresses.ts";

/** From the start of a request to the end of its answer. */
const TIMEOUT_MS = 15_000;
/** What is read of an answer; the rest is not waited for. */
const MAX_ANSWER_BYTES = 16_384;

export interface OutgoingRequest {
  /** Absent: POST. */
  readonly method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** An http or https address. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ReceivedAnswer {
  readonly status: number;
  /** The beginning of the body. */
  readonly text: string;
  /** Only where the sender is made with them. */
  readonly headers?: IncomingHttpHeaders;
}

/** No answer came. The message is for those who see the delivery; of the request it holds at most the host and its port. */
export class NoAnswerError extends Error {
  /** The message for a receiver whose address is a secret. */
  readonly withoutHost: string;

  constructor(message: string, withoutHost = message) {
    super(message);
    this.withoutHost = withoutHost;
  }
}

/** `signal` ends the wait for an answer. */
export type SendRequest = (request: OutgoingRequest, signal: AbortSignal) => Promise<ReceivedAnswer>;

/** The signature of `dns.lookup` for all addresses of a name. */
export type LookUpAll = (
  name: string,
  options: { readonly all: true },
  answer: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface SenderOptions {
  readonly timeoutMs?: number;
  readonly lookUp?: LookUpAll;
  readonly maxAnswerBytes?: number;
  /** Whether answers have their headers. */
  readonly withHeaders?: boolean;
  /** PEM text of the authorities of receivers, in place of the usual ones. */
  readonly ca?: () => Promise<string>;
  /** The setting by which an operator allows networks, for messages. */
  readonly setting?: string;
}

/** Rejects with a {@link NoAnswerError}. */
export function requestSender(
  mayReach: AddressRule,
  {
    timeoutMs = TIMEOUT_MS,
    lookUp = lookup,
    maxAnswerBytes = MAX_ANSWER_BYTES,
    withHeaders = false,
    ca,
    setting = "MILLRACE_OUTGOING_NETWORKS",
  }: SenderOptions = {},
): SendRequest {
  const notReachable = refusalWith(setting);
  const checked = checkedLookup(mayReach, lookUp, notReachable);
  return async ({ method = "POST", url, headers, body }, signal) => {
    const target = URL.canParse(url) ? new URL(url) : undefined;
    if (target === undefined || !/^https?:$/.test(target.protocol)) {
      throw new NoAnswerError("this is not an http or https address");
    }
    // A literal address is connected to without a look-up.
    const host = target.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(host) !== 0 && !mayReach(host)) throw notReachable(host);
    const authorities = ca && (await ca());
    return new Promise((resolve, reject) => {
      const options: RequestOptions = {
        method,
        agent: false,
        signal,
        lookup: checked,
        headers: { ...headers, "content-length": Buffer.byteLength(body) },
        ...authOf(target),
        ...(authorities !== undefined && { ca: authorities }),
      };
      const send = target.protocol === "https:" ? httpsRequest : httpRequest;
      let sent: ClientRequest;
      try {
        sent = send(withoutUser(target), options);
      } catch (error) {
        reject(noAnswer(error, "the request cannot be sent: "));
        return;
      }
      const timer = setTimeout(
        () => sent.destroy(new NoAnswerError(`no answer within ${timeoutMs / 1_000} s`)),
        timeoutMs,
      );
      sent.once("close", () => clearTimeout(timer));
      sent.once("error", (error) => reject(error instanceof NoAnswerError ? error : noAnswer(error)));
      sent.once("response", (answer) => {
        beginningOf(answer, maxAnswerBytes).then(
          (text) => {
            resolve({ status: answer.statusCode!, text, ...(withHeaders && { headers: answer.headers }) });
            sent.destroy();
          },
          (error: unknown) => reject(noAnswer(error)),
        );
      });
      sent.end(body);
    });
  };
}

/** The address without what may be a secret: user, password, query and fragment. */
export function shownAddress(address: string): string {
  if (!URL.canParse(address)) return "";
  const { protocol, host, pathname, search } = new URL(address);
  return `${protocol}//${host}${pathname}${search === "" ? "" : "?..."}`;
}

function checkedLookup(
  mayReach: AddressRule,
  lookUp: LookUpAll,
  notReachable: (host: string) => NoAnswerError,
): LookupFunction {
  return (name, options, answer) => {
    lookUp(name, { all: true }, (error, found) => {
      if (error !== null) return answer(error, [], 0);
      const reachable = found.filter(({ address }) => mayReach(address));
      const [first] = reachable;
      if (first === undefined) return answer(notReachable(name), [], 0);
      if (options.all === true) return answer(null, reachable);
      answer(null, first.address, first.family);
    });
  };
}

function refusalWith(setting: string): (host: string) => NoAnswerError {
  const refusal = (what: string) =>
    `${what} is not on the public internet: an operator can allow its network with ${setting}`;
  return (host) => new NoAnswerError(refusal(host), refusal("the receiver"));
}

async function beginningOf(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(pieces).subarray(0, maxBytes).toString("utf8");
}

function authOf({ username, password }: URL): { readonly auth?: string } {
  return username === "" && password === ""
    ? {}
    : { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` };
}

function withoutUser(url: URL): URL {
  const plain = new URL(url);
  plain.username = plain.password = "";
  return plain;
}

/** Messages of the network name at most the host and its port; codes name nothing. */
function noAnswer(error: unknown, prefix = ""): NoAnswerError {
  if (error instanceof AggregateError) return noAnswer(error.errors[0], prefix);
  const { code, message } = error as NodeJS.ErrnoException;
  const withoutHost = `${prefix}${code === undefined ? "" : `${code}: `}the receiver that a secret names cannot be reached`;
  return new NoAnswerError(`${prefix}${code === undefined ? message : `${code}: ${message}`}`, withoutHost);
}
