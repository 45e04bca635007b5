/** One call of the API: its token, its attempts, its deadline, and its errors. */
import { readError, readJson } from "./answers.ts";
import type { Credentials } from "./credentials.ts";
import { ApiError, type ClientError, ConnectionError } from "./errors.ts";
import { retryDelayMs } from "./retries.ts";
import { wait } from "./waiting.ts";

const PREFIX = "/api/v1";

export interface TransportOptions {
  /** The server, for example `https://ci.example`. A path before `/api/v1` is kept. */
  readonly baseUrl: string;
  readonly credentials: Credentials;
  readonly fetch: typeof globalThis.fetch;
  /** Headers of every call. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly longestWaitMs: number;
  readonly maxAnswerBytes: number;
  readonly onRetry: (notice: RetryNotice) => void;
}

/** A failed attempt that is about to be repeated. */
export interface RetryNotice {
  readonly error: ClientError;
  readonly delayMs: number;
  /** The number of the failed attempt, from 1. */
  readonly attempt: number;
}

/** What `fetch` sends. */
export type Payload = NonNullable<RequestInit["body"]>;

export interface Request {
  readonly method: string;
  /** Below `/api/v1`, with its parameters in place. */
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Payload | null;
  /** True when a repeat has no other effect than the first attempt. */
  readonly isRepeatable: boolean;
  /** False for the calls that bring a token. */
  readonly isAuthenticated?: boolean;
  /** Statuses that are answers and no errors, besides those of a success. */
  readonly statuses?: readonly number[];
  /** Called before each repeat, besides that of the client. */
  readonly onRetry?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
}

/** A success. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The whole JSON; null for an answer without a body. */
  readonly body: unknown;
}

export class Transport {
  readonly options: TransportOptions;

  constructor(options: TransportOptions) {
    this.options = options;
  }

  /** Resolves with the answer, read to its end. Rejects with a {@link ClientError}, or with the reason of the signal. */
  json(request: Request): Promise<Answer> {
    return this.#repeat(request, async (response, call) => {
      const { status, headers } = response;
      const isEmpty = status === 204 || status === 304;
      return { status, headers, body: isEmpty ? null : await readJson(call, response, this.options.maxAnswerBytes) };
    });
  }

  /** Resolves with the response once it has begun, to read its body as a stream. The deadline is for its beginning. */
  open(request: Request): Promise<Response> {
    return this.#repeat(request, (response) => Promise.resolve(response));
  }

  /** The address of a path, for a WebSocket or a link. */
  urlOf(path: string, query: Request["query"] = {}): URL {
    const url = new URL(this.options.baseUrl.replace(/\/+$/, "") + PREFIX + path);
    for (const [name, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined) url.searchParams.append(name, String(one));
      }
    }
    return url;
  }

  async #repeat<T>(request: Request, read: (response: Response, call: string) => Promise<T>): Promise<T> {
    const { isRepeatable, signal, method, path } = request;
    const retries = request.retries ?? this.options.retries;
    const call = `${method} ${path}`;
    for (let number = 1; ; number++) {
      try {
        return await this.#attempt(call, request, read);
      } catch (error) {
        signal?.throwIfAborted();
        const attempt = { number, isRepeatable, longestWaitMs: this.options.longestWaitMs };
        const delayMs = number > retries ? undefined : retryDelayMs(error, attempt);
        if (delayMs === undefined) throw error;
        request.onRetry?.();
        this.options.onRetry({ error: error as ClientError, delayMs, attempt: number });
        await wait(delayMs, signal);
      }
    }
  }

  /** One attempt, and a second one with a new token when the server has refused the first. */
  async #attempt<T>(
    call: string,
    request: Request,
    read: (response: Response, call: string) => Promise<T>,
  ): Promise<T> {
    const { credentials } = this.options;
    const token = request.isAuthenticated === false ? undefined : await credentials.token();
    try {
      return await this.#once(call, request, token, read);
    } catch (error) {
      const isRefused = error instanceof ApiError && error.code === 401 && token !== undefined;
      if (!isRefused || !(await credentials.renew?.(token))) throw error;
      return this.#once(call, request, await credentials.token(), read);
    }
  }

  async #once<T>(
    call: string,
    { method, path, query, headers, body = null, signal, timeoutMs, statuses = [304] }: Request,
    token: string | undefined,
    read: (response: Response, call: string) => Promise<T>,
  ): Promise<T> {
    const { options } = this;
    const url = this.urlOf(path, query);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs ?? options.timeoutMs);
    try {
      const response = await options.fetch(url, {
        method,
        headers: {
          accept: "application/json",
          ...options.headers,
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        body,
        // A redirect of a call may lead the token to another server.
        redirect: "manual",
        signal: signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]),
      });
      if (response.ok || statuses.includes(response.status)) return await read(response, call);
      throw await readError(call, response, options.maxAnswerBytes);
    } catch (error) {
      signal?.throwIfAborted();
      if (deadline.signal.aborted)
        throw new ConnectionError(call, `${url.host} did not answer in time`, { cause: error });
      // `fetch` rejects with a TypeError for every failure of the network.
      if (error instanceof TypeError) throw new ConnectionError(call, `${url.host} does not answer`, { cause: error });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}
