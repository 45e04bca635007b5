/** The client of a millrace server. */
import type { CallArguments, CallSettings, DetailOf, ItemOf, Method, Operation, PathOf, Schemas } from "./api-types.ts";
import { type Credentials, fixedToken } from "./credentials.ts";
import { ApiError, ParameterError } from "./errors.ts";
import { mayHaveSlashes, takesIdempotencyKey } from "./operation-facts.ts";
import { type Answer, type Payload, type Request, type RetryNotice, Transport } from "./transport.ts";

export interface ClientOptions {
  /** The server, for example `https://ci.example`. In a page of that server: `location.origin`. */
  readonly baseUrl: string;
  /** A token, or where tokens come from. Absent in a page, whose browser sends its cookie. */
  readonly credentials?: string | Credentials | undefined;
  /** Default: `globalThis.fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Sent with every call, for example a `user-agent`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For one attempt. Default: 30,000. */
  readonly timeoutMs?: number;
  /** How often an attempt that failed for now is repeated. Default: 3. */
  readonly retries?: number;
  /** A longer `Retry-After` makes the call fail. Default: 60,000. */
  readonly longestWaitMs?: number;
  /** A larger answer makes the call fail. Default: 256 MiB. */
  readonly maxAnswerBytes?: number;
  /** Called before each repeat. */
  readonly onRetry?: (notice: RetryNotice) => void;
}

/** An object with the `ETag` by which a change can name it. */
export interface Tagged<D> {
  readonly detail: D;
  readonly etag: string | undefined;
}

interface AnyCall extends CallSettings {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

const NO_CREDENTIALS: Credentials = { token: () => Promise.resolve(undefined) };

/** Every call rejects with a `ClientError`, or with the reason of its signal. */
export class MillraceClient {
  readonly transport: Transport;

  constructor(options: ClientOptions) {
    const { credentials } = options;
    this.transport = new Transport({
      baseUrl: options.baseUrl,
      credentials: typeof credentials === "string" ? fixedToken(credentials) : (credentials ?? NO_CREDENTIALS),
      // Called without a receiver, as browsers want it.
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      headers: options.headers ?? {},
      timeoutMs: options.timeoutMs ?? 30_000,
      retries: options.retries ?? 3,
      longestWaitMs: options.longestWaitMs ?? 60_000,
      maxAnswerBytes: options.maxAnswerBytes ?? 256 * 1_024 * 1_024,
      onRetry: options.onRetry ?? (() => {}),
    });
  }

  get<P extends PathOf<"get">>(
    path: P,
    ...call: CallArguments<Operation<"get", P>>
  ): Promise<DetailOf<Operation<"get", P>>> {
    return this.#detail("get", path, call[0] as AnyCall);
  }

  post<P extends PathOf<"post">>(
    path: P,
    ...call: CallArguments<Operation<"post", P>>
  ): Promise<DetailOf<Operation<"post", P>>> {
    return this.#detail("post", path, call[0] as AnyCall);
  }

  put<P extends PathOf<"put">>(
    path: P,
    ...call: CallArguments<Operation<"put", P>>
  ): Promise<DetailOf<Operation<"put", P>>> {
    return this.#detail("put", path, call[0] as AnyCall);
  }

  patch<P extends PathOf<"patch">>(
    path: P,
    ...call: CallArguments<Operation<"patch", P>>
  ): Promise<DetailOf<Operation<"patch", P>>> {
    return this.#detail("patch", path, call[0] as AnyCall);
  }

  delete<P extends PathOf<"delete">>(
    path: P,
    ...call: CallArguments<Operation<"delete", P>>
  ): Promise<DetailOf<Operation<"delete", P>>> {
    return this.#detail("delete", path, call[0] as AnyCall);
  }

  /** As `get`, with the `ETag` for a later change: `{ ifMatch: etag }`. */
  async getTagged<P extends PathOf<"get">>(
    path: P,
    ...call: CallArguments<Operation<"get", P>>
  ): Promise<Tagged<DetailOf<Operation<"get", P>>>> {
    const answer = await this.#answer("get", path, call[0] as AnyCall);
    const etag = answer.headers.get("etag") ?? undefined;
    return { detail: detailOf(answer) as DetailOf<Operation<"get", P>>, etag };
  }

  /**
   * Every item of a list, page after page, in the order of the list. Pages are read as items are taken. A list with
   * cursors lists no item twice when others come meanwhile; a list with page numbers may.
   */
  async *items<P extends PathOf<"get">>(
    path: P,
    ...call: CallArguments<Operation<"get", P>>
  ): AsyncGenerator<ItemOf<Operation<"get", P>>, void, undefined> {
    const first = (call[0] ?? {}) as AnyCall;
    let query = first.query;
    for (;;) {
      const page = await this.#detail<Page<ItemOf<Operation<"get", P>>>>("get", path, { ...first, query });
      yield* page.list;
      const next = nextPage(page);
      if (next === undefined) return;
      query = { ...query, ...next };
    }
  }

  /** A download: the response of an operation whose answer is no JSON. Its body is a stream. */
  open<P extends PathOf<"get">>(path: P, ...call: CallArguments<Operation<"get", P>>): Promise<Response> {
    const request = this.#request("get", path, call[0] as AnyCall);
    return this.transport.open({ ...request, headers: { ...request.headers, accept: "*/*" } });
  }

  /** Sends a body that is no JSON, for example a package. It is sent once. */
  async upload<P extends PathOf<"post">>(
    path: P,
    { type, body, ...call }: { readonly type: string; readonly body: Payload } & AnyCall,
  ): Promise<DetailOf<Operation<"post", P>>> {
    const request = this.#request("post", path, call);
    const headers = { ...request.headers, "content-type": type };
    return detailOf(await this.transport.json({ ...request, headers, body })) as DetailOf<Operation<"post", P>>;
  }

  /** Makes the next tokens of a login from its refresh token, which is good once. */
  async refresh(refreshToken: string, signal?: AbortSignal): Promise<Schemas["RenewedLogin"]> {
    const answer = await this.transport.json({
      method: "POST",
      path: "/auth/refresh",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ refreshToken }),
      // A repeat within 10 s is answered with the same tokens.
      isRepeatable: true,
      isAuthenticated: false,
      signal,
    });
    return detailOf(answer) as Schemas["RenewedLogin"];
  }

  /** The signature of the public method says what the answer is. */
  async #detail<D>(method: Method, path: string, call: AnyCall | undefined): Promise<D> {
    return detailOf(await this.#answer(method, path, call)) as D;
  }

  async #answer(method: Method, path: string, call: AnyCall | undefined): Promise<Answer> {
    let isRepeat = false;
    try {
      return await this.transport.json({ ...this.#request(method, path, call), onRetry: () => (isRepeat = true) });
    } catch (error) {
      // The answer to an earlier attempt, which deleted the object, was lost.
      const isGone = method === "delete" && isRepeat && error instanceof ApiError && error.reason === "not_found";
      if (isGone) return goneAnswer();
      throw error;
    }
  }

  #request(method: Method, template: string, call: AnyCall = {}): Request {
    const name = method.toUpperCase();
    const headers: Record<string, string> = {};
    if (call.body !== undefined) headers["content-type"] = "application/json";
    if (call.ifMatch !== undefined) headers["if-match"] = call.ifMatch;
    const takesKey = takesIdempotencyKey(name, template);
    if (takesKey) headers["idempotency-key"] = call.idempotencyKey ?? keyOf(call.body) ?? newKey();
    return {
      method: name,
      path: fill(template, call.path ?? {}),
      query: call.query,
      headers,
      body: call.body === undefined ? null : JSON.stringify(call.body),
      // The repeat of a conditional change that was made would be refused, since the object has changed.
      isRepeatable: takesKey || (name !== "POST" && name !== "PATCH" && call.ifMatch === undefined),
      signal: call.signal,
      timeoutMs: call.timeoutMs,
      retries: call.retries,
    };
  }
}

/** A function, because Node loads its whole HTTP client at the first use of `Headers`. */
const goneAnswer = (): Answer => ({ status: 200, headers: new Headers(), body: {} });

interface Page<I> {
  readonly list: readonly I[];
  readonly total?: number;
  readonly page?: number;
  readonly pageSize?: number;
  readonly next?: string | number | null;
}

/** The parameters that ask for the next page; undefined behind the last one. */
function nextPage({ list, total, page, pageSize, next }: Page<unknown>): Readonly<Record<string, unknown>> | undefined {
  if (next !== undefined) return next === null ? undefined : { after: next };
  if (page === undefined || pageSize === undefined || list.length < pageSize) return undefined;
  return total !== undefined && page * pageSize >= total ? undefined : { page: page + 1 };
}

/** The path with its parameters. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? "";
    const parts = mayHaveSlashes(template, name) ? value.split("/") : [value];
    // URLs leave such a part out, so the path would be another one.
    if (parts.some((part) => /^\.{0,2}$/.test(part))) {
      throw new ParameterError(template, name, value);
    }
    return parts.map(encodeURIComponent).join("/");
  });
}

/** `randomUUID` is missing in pages that were loaded without TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The `requestId` of a body, which must be the same as the key when both are sent. */
function keyOf(body: unknown): string | undefined {
  const { requestId } = (body ?? {}) as { readonly requestId?: unknown };
  return typeof requestId === "string" ? requestId : undefined;
}

function detailOf({ body }: Answer): unknown {
  return (body as { readonly detail?: unknown } | null)?.detail;
}
