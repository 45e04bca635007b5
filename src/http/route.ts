/** Routes as data: what each accepts and answers, in one declaration from which it is served and described. */
import type { z } from "zod";
import type { Caller } from "../app/identity/access.ts";
import { successEnvelope } from "../app/envelope.ts";
import type { Clock } from "../domain/clock.ts";
import { type ErrorReason, MillraceError } from "../domain/errors.ts";
import type {
  AgentId,
  ApprovalId,
  ArtifactId,
  CacheId,
  JobRunId,
  PipelineId,
  ProjectId,
  RunId,
  SessionId,
  StepRunId,
  TokenId,
} from "../domain/ids.ts";
import { parseBody, parseQuery } from "./request/parse.ts";
import type { ApiRouter, RouteContext } from "./request/state.ts";

/** Parameters of paths whose values are ids; every other one is a text. */
interface ParamTypes {
  readonly pipelineId: PipelineId;
  readonly runId: RunId;
  readonly jobId: JobRunId;
  readonly stepRunId: StepRunId;
  readonly approvalId: ApprovalId;
  readonly artifactId: ArtifactId;
  readonly agentId: AgentId;
  readonly projectId: ProjectId;
  readonly tokenId: TokenId;
  readonly sessionId: SessionId;
  readonly cacheId: CacheId;
}

type ParamNames<P extends string> = P extends `${infer Head}/${infer Rest}`
  ? ParamNames<Head> | ParamNames<Rest>
  : P extends `:${infer Name}{`
    ? Name
    : P extends `:${infer Name}` | `*${infer Name}`
      ? Name
      : never;
type ParamType<N extends string> = N extends keyof ParamTypes ? ParamTypes[N] : string;
/** The parameters that the pattern of a path names; of an optional part (`{/*path}`) the values are optional. */
type Params<P extends string> = P extends `${infer Whole}{/*${infer Optional}}`
  ? Params<Whole> & { readonly [N in Optional]?: string }
  : { readonly [N in ParamNames<P>]: ParamType<N> };

type Shape = z.ZodType | null;
type Parsed<S extends Shape> = S extends z.ZodType ? z.output<S> : undefined;
/** What the use case of a route resolves to: the `detail` of the answer, if the answer has one. */
type Detail<A extends Shape> = A extends z.ZodType ? z.output<A> : void;

/** A request as the handler of a route sees it. */
export interface Call<P extends string, Q extends Shape, B extends Shape> {
  readonly caller: Caller;
  readonly params: Params<P>;
  readonly query: Parsed<Q>;
  readonly body: Parsed<B>;
  readonly ctx: RouteContext;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What a route is, for those who describe it. */
export interface RouteFacts {
  readonly method: Method;
  /** Below `/api/v1`, except for the routes of health. */
  readonly path: string;
  /** Unique; clients call the operation by it. */
  readonly name: string;
  /** One sentence. */
  readonly about: string;
  readonly tag: string;
  /** Null: the route has no parameters, and ignores what a caller sends. */
  readonly query: Shape;
  /** Null: the route reads no JSON. */
  readonly body: Shape;
  /** The media type of a body that is no JSON. */
  readonly bodyType: string | null;
  /** The `detail` of a success; null for an answer without one. */
  readonly answer: Shape;
  /** The media type of an answer that is no JSON. */
  readonly answerType: string | null;
  /** The statuses of a success. */
  readonly statuses: readonly number[];
  /** Errors besides those that every route may give. */
  readonly errors: readonly ErrorReason[];
  /** True for a route that needs no token. */
  readonly isOpen: boolean;
}

export interface Route<C> extends RouteFacts {
  readonly serve: (context: C) => (ctx: RouteContext) => Promise<void>;
}

interface Declared<P extends string, Q extends Shape, B extends Shape, A extends Shape> {
  readonly method: Method;
  readonly path: P;
  readonly name: string;
  readonly about: string;
  readonly query?: Q;
  readonly body?: B;
  /** Reads the body; default {@link parseBody}. */
  readonly readBody?: typeof parseBody;
  readonly bodyType?: string;
  readonly answer: A;
  readonly statuses?: readonly number[];
  readonly errors?: readonly ErrorReason[];
  readonly isOpen?: boolean;
}

type Handling<C, K, A extends Shape> =
  /** Answers what it resolves to as `detail`. */
  | { readonly handle: (context: C, call: K) => Promise<Detail<A>> | Detail<A> }
  /** Answers the JSON that it makes. `over` fires when the caller has taken it or is gone. */
  | { readonly encode: (context: C, call: K, over: AbortSignal) => Promise<Buffer> }
  /** Writes the answer, of the given media type, by itself. */
  | { readonly send: (context: C, call: K) => Promise<void>; readonly answerType: string };

interface WithClock {
  readonly clock: Pick<Clock, "now">;
}

/** A function that declares routes which work with the context `C`. `tag` is what the routes are about. */
export function routesFor<C extends WithClock>(tag: string) {
  return <P extends string, A extends Shape, Q extends Shape = null, B extends Shape = null>(
    declared: Declared<P, Q, B, A> & Handling<C, Call<P, Q, B>, A>,
  ): Route<C> => {
    const { query = null, body = null, readBody = parseBody } = declared as Declared<P, Shape, Shape, A>;
    const { method, path, name, about, bodyType = null, answer, errors = [], isOpen = false } = declared;
    // The shapes decide these types, so that no route can be declared with another handler.
    const callOf = async (ctx: RouteContext) =>
      ({
        caller: ctx.state.caller,
        params: ctx.params,
        query: query === null ? undefined : parseQuery(ctx, query),
        body: body === null ? undefined : await readBody(ctx, body),
        ctx,
      }) as unknown as Call<P, Q, B>;
    return {
      method,
      path,
      name,
      about,
      tag,
      query,
      body,
      bodyType,
      answer,
      answerType: "send" in declared ? declared.answerType : null,
      statuses: declared.statuses ?? [200],
      errors,
      isOpen,
      serve(context) {
        if ("handle" in declared) {
          const { handle } = declared;
          return async (ctx) => {
            const detail = await handle(context, await callOf(ctx));
            ctx.body = successEnvelope(detail, context.clock.now());
          };
        }
        if ("encode" in declared) {
          const { encode } = declared;
          return async (ctx) => {
            const over = overSignal(ctx);
            const json = await encode(context, await callOf(ctx), over);
            ctx.type = "json";
            ctx.body = json;
          };
        }
        const { send } = declared;
        return async (ctx) => send(context, await callOf(ctx));
      },
    };
  };
}

/** Serves the routes, in their order. */
export function addRoutes<C>(router: ApiRouter, context: C, routes: readonly Route<C>[]): void {
  for (const { method, path, serve } of routes) {
    const add = { GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "delete" } as const;
    router[add[method]](path, serve(context));
  }
}

function overSignal(ctx: RouteContext): AbortSignal {
  const over = new AbortController();
  const gone = () => over.abort(new MillraceError("unavailable", "the caller is gone"));
  ctx.res.once("close", gone);
  if (ctx.res.closed) gone();
  return over.signal;
}
