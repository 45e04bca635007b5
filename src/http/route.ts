/** Routes as data: what each accepts and answers, in one declaration from which it is served and described. */
import { z } from "zod";
import type { Caller } from "../app/identity/access.ts";
import { successEnvelope } from "../app/envelope.ts";
import type { Precondition } from "../app/preconditions.ts";
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
  RevisionId,
  RunId,
  SessionId,
  StepRunId,
  TeamId,
  TenantId,
  TokenId,
  UploadId,
  WebhookId,
  DeliveryId,
  HookId,
} from "../domain/ids.ts";
import { hasCondition, requireMatch, sendTag, tagOf, tagOfJson } from "./manners/entity-tags.ts";
import { parseBody, parseQuery } from "./request/parse.ts";
import type { ApiRouter, RouteContext } from "./request/state.ts";

const JSON_TYPE = "application/json";
const JSON_ANSWER = `${JSON_TYPE}; charset=utf-8`;
const MAX_KEY_CHARS = 200;
/** A longer answer has no tag: its digest would hold the event loop for milliseconds. */
const MAX_TAGGED_BYTES = 1_024 * 1_024;

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
  readonly uploadId: UploadId;
  readonly revisionId: RevisionId;
  readonly tenantId: TenantId;
  readonly teamId: TeamId;
  readonly webhookId: WebhookId;
  readonly deliveryId: DeliveryId;
  readonly hookId: HookId;
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
export interface Call<P extends string, Q extends Shape, B extends Shape, D = never> {
  readonly caller: Caller;
  readonly params: Params<P>;
  readonly query: Parsed<Q>;
  readonly body: Parsed<B>;
  /** The header `Idempotency-Key` of a route that accepts one. */
  readonly requestId: string | undefined;
  /** What the header `If-Match` of a route that changes something demands of the object before the change. */
  readonly match: Precondition<D> | undefined;
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
  /** The media type of the answer that goes on, for callers who accept that one rather than JSON. */
  readonly streamType: string | null;
  /** The shapes of answers in no envelope, by status, of a route that writes its answer by itself. */
  readonly plainAnswers: Readonly<Record<number, z.ZodType>>;
  /** The statuses of a success. */
  readonly statuses: readonly number[];
  /** Errors besides those that every route may give. */
  readonly errors: readonly ErrorReason[];
  /** True for a route that needs no token. */
  readonly isOpen: boolean;
  /** True for a route whose calls the audit log records: those that change something, or try to. */
  readonly isRecorded: boolean;
  /** True for a route that heeds `Idempotency-Key`. */
  readonly acceptsKey: boolean;
  /** True for a route that heeds `If-Match`. */
  readonly isConditional: boolean;
  /** True for a route whose answer has an `ETag`. */
  readonly hasTag: boolean;
  /** True for a route whose address may hold a ticket in place of a token. */
  readonly acceptsTicket: boolean;
}

export interface Route<C> extends RouteFacts {
  readonly serve: (context: C) => Handler;
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
  /**
   * For a download, which a browser begins without a script, and an event stream, for which a script cannot set a header.
   * A route with a shape of its query has the field `ticket` in it.
   */
  readonly acceptsTicket?: boolean;
  /** For a route that changes nothing although its method is not GET. */
  readonly readsOnly?: boolean;
  /** The handler heeds `requestId`; a route whose body has that field needs not say so. */
  readonly creates?: boolean;
  /**
   * For a route that answers one object: the part of it that callers can change, from which the first part of its tag is
   * made. The answers of the routes of one object must have the same tag.
   */
  readonly tagged?: (detail: Detail<A>) => unknown;
}

/** A route that changes or removes the object that another route reads. */
interface Changing<D> {
  /** `tagged` as that of the route that reads. The handler heeds `match`: its use case compares as it changes the object. */
  readonly changes?: { readonly tagged: (detail: D) => unknown };
}

type Handling<C, K, A extends Shape> =
  /** Answers what it resolves to as `detail`. */
  | {
      readonly handle: (context: C, call: K) => Promise<Detail<A>> | Detail<A>;
      /** Writes the answer by itself for callers who would rather have this media type. */
      readonly streamed?: { readonly type: string; readonly send: (context: C, call: K) => Promise<void> };
    }
  /** Answers the JSON that it makes. `over` fires when the caller has taken it or is gone. */
  | { readonly encode: (context: C, call: K, over: AbortSignal) => Promise<Buffer> }
  /** Writes the answer, of the given media type, by itself. */
  | {
      readonly send: (context: C, call: K) => Promise<void>;
      readonly answerType: string;
      readonly plainAnswers?: Readonly<Record<number, z.ZodType>>;
    };

interface WithClock {
  readonly clock: Pick<Clock, "now">;
}

/** A function that declares routes which work with the context `C`. `tag` is what the routes are about. */
export function routesFor<C extends WithClock>(tag: string) {
  return <P extends string, A extends Shape, Q extends Shape = null, B extends Shape = null, D = unknown>(
    declared: Declared<P, Q, B, A> & Handling<C, Call<P, Q, B, D>, A> & Changing<D>,
  ): Route<C> => {
    const { query = null, body = null, readBody = parseBody } = declared as Declared<P, Shape, Shape, A>;
    const { method, path, name, about, bodyType = null, answer, errors = [], isOpen = false } = declared;
    const { tagged, changes, creates = false, readsOnly = method === "GET" } = declared;
    const hasRequestId = body !== null && takesRequestId(body);
    // The shapes decide these types, so that no route can be declared with another handler.
    const callOf = async (ctx: RouteContext) => {
      const requestId = creates || hasRequestId ? keyOf(ctx) : undefined;
      const parsed = query === null ? undefined : parseQuery(ctx, query);
      const sent = body === null ? undefined : await readBody(ctx, body);
      return {
        caller: ctx.state.caller,
        params: ctx.params,
        query: parsed,
        body: hasRequestId && requestId !== undefined ? withKey(sent as object, requestId) : sent,
        requestId,
        match: changes !== undefined && hasCondition(ctx) ? demandOf(ctx, changes.tagged) : undefined,
        ctx,
      } as unknown as Call<P, Q, B, D>;
    };
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
      streamType: ("handle" in declared ? declared.streamed?.type : undefined) ?? null,
      plainAnswers: ("send" in declared ? declared.plainAnswers : undefined) ?? {},
      statuses: declared.statuses ?? (tagged !== undefined && method === "GET" ? [200, 304] : [200]),
      // An open route has no caller yet: its use case records whom the call proves.
      isRecorded: !readsOnly && !isOpen,
      acceptsKey: creates || hasRequestId,
      isConditional: changes !== undefined,
      hasTag: tagged !== undefined,
      errors,
      isOpen,
      acceptsTicket: declared.acceptsTicket ?? false,
      serve(context) {
        if ("handle" in declared) {
          const { handle, streamed } = declared;
          return async (ctx) => {
            if (streamed !== undefined && ctx.accepts(JSON_TYPE, streamed.type) === streamed.type) {
              return streamed.send(context, await callOf(ctx));
            }
            const detail = await handle(context, await callOf(ctx));
            // The library would look the type up for each answer.
            ctx.set("Content-Type", JSON_ANSWER);
            ctx.body = successEnvelope(detail, context.clock.now());
            if (tagged !== undefined) sendTag(ctx, tagOf(detail, tagged(detail)));
          };
        }
        if ("encode" in declared) {
          const { encode } = declared;
          return async (ctx) => {
            const over = overSignal(ctx);
            const json = await encode(context, await callOf(ctx), over);
            ctx.type = "json";
            ctx.body = json;
            if (tagged !== undefined && json.length <= MAX_TAGGED_BYTES) sendTag(ctx, tagOfJson(withoutTime(json)));
          };
        }
        const { send } = declared;
        return async (ctx) => send(context, await callOf(ctx));
      },
    };
  };
}

type Handler = (ctx: RouteContext) => Promise<void>;
/** Serves a route so that the audit log records its calls. */
export type Recorder = (route: RouteFacts, handle: Handler) => Handler;

interface ServeOptions {
  /** Callers get their answer whatever they accept, as the programs do that ask whether a node is ready. */
  readonly isOpenToAll?: boolean;
  readonly recorder?: Recorder;
  /** Replaces names in the path and the query by ids, before anything else reads them. */
  readonly named?: (ctx: RouteContext) => Promise<void>;
}

/** Serves the routes, in their order. */
export function addRoutes<C>(
  router: ApiRouter,
  context: C,
  routes: readonly Route<C>[],
  { isOpenToAll = false, recorder, named }: ServeOptions = {},
): void {
  for (const route of routes) {
    const { method, path, serve, answerType, streamType, isRecorded } = route;
    const add = { GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "delete" } as const;
    const handler = isRecorded && recorder !== undefined ? recorder(route, serve(context)) : serve(context);
    const types = [answerType ?? JSON_TYPE, ...(streamType === null ? [] : [streamType])];
    router[add[method]](path, async (ctx) => {
      if (!isOpenToAll) requireAccepted(ctx, types);
      await named?.(ctx);
      return handler(ctx);
    });
  }
}

function demandOf<D>(ctx: RouteContext, changeable: (detail: D) => unknown): Precondition<D> {
  return (before) => requireMatch(ctx, tagOf(before, changeable(before)));
}

function takesRequestId(body: z.ZodType): boolean {
  if (body instanceof z.ZodDiscriminatedUnion)
    return body.options.every((option) => takesRequestId(option as z.ZodType));
  return body instanceof z.ZodObject && "requestId" in body.shape;
}

/** Throws `malformed_request` for a key that no request id may be. */
function keyOf(ctx: RouteContext): string | undefined {
  const key = ctx.get("idempotency-key");
  if (key === "") {
    if (ctx.headers["idempotency-key"] === undefined) return undefined;
    // Its sender takes the call for safe to repeat.
    throw new MillraceError("malformed_request", "the header Idempotency-Key is empty: choose a key, or leave it out");
  }
  if (key.length <= MAX_KEY_CHARS) return key;
  throw new MillraceError("malformed_request", `the header Idempotency-Key has more than ${MAX_KEY_CHARS} characters`);
}

/** Throws `malformed_request` when the body names another request id than the header. */
function withKey(body: { readonly requestId?: string }, requestId: string): object {
  if (body.requestId === undefined || body.requestId === requestId) return { ...body, requestId };
  const message = "must be the same as the header Idempotency-Key, or be left out";
  throw new MillraceError("malformed_request", `the body has problems: /requestId ${message}`, {
    problems: [{ code: "custom", pointer: "/requestId", message }],
  });
}

/** Throws `not_acceptable` when the caller accepts none of the types. An error is JSON whatever the caller accepts. */
function requireAccepted(ctx: RouteContext, types: readonly string[]): void {
  const accept = ctx.get("accept");
  // Most callers send one of these. With a weight, such as `*/*;q=0`, a type may be one that is not accepted.
  const isPlain = !accept.includes("q=0");
  if (accept === "" || (isPlain && (accept.includes("*/*") || types.some((type) => accept.includes(type))))) return;
  if (ctx.accepts(...types) !== false) return;
  throw new MillraceError(
    "not_acceptable",
    `the answer is ${types.join(" or ")}, which the header Accept (${accept}) does not allow`,
  );
}

/** The answer without its end, `"timestamp":...}`, which is another one each second. */
function withoutTime(json: Buffer): Buffer {
  return json.subarray(0, json.lastIndexOf(',"timestamp":'));
}

function overSignal(ctx: RouteContext): AbortSignal {
  const over = new AbortController();
  const gone = () => over.abort(new MillraceError("unavailable", "the caller is gone"));
  ctx.res.once("close", gone);
  if (ctx.res.closed) gone();
  return over.signal;
}
