/** Types of calls and answers, computed from the generated types. */
import type { components, paths } from "./generated/schema.ts";

/** Every named object of the API, for example `Schemas["RunDetail"]`. */
export type Schemas = components["schemas"];
/** The words by which programs tell errors apart. */
export type ErrorReason = Schemas["Error"]["reason"];
export type Problem = Schemas["Problem"];

export type Method = "get" | "post" | "put" | "patch" | "delete";

type WithoutPrefix<P> = P extends `/api/v1${infer Rest}` ? Rest : never;
/** A path of the API as docs/openapi.json writes it, without `/api/v1`. */
export type ApiPath = WithoutPrefix<keyof paths>;

/** The operation of a method on a path; not an object when the path has no such method. */
export type Operation<M extends Method, P extends ApiPath> = `/api/v1${P}` extends keyof paths
  ? paths[`/api/v1${P}`][M]
  : never;

/** The paths that have the method. */
export type PathOf<M extends Method> = {
  [P in ApiPath]: Operation<M, P> extends { responses: unknown } ? P : never;
}[ApiPath];

type Answered<O> = O extends { responses: { 200: { content: { "application/json": infer E } } } } ? E : never;
/** The `detail` of a success; undefined for an answer without one. */
export type DetailOf<O> = Answered<O> extends { detail: infer D } ? D : undefined;
/** What the list of an answer holds. */
export type ItemOf<O> = DetailOf<O> extends { list: readonly (infer I)[] } ? I : never;

/** A parameter that is undefined is not sent. */
type Loose<T> = { readonly [K in keyof T]: T[K] | undefined };

type PathPart<O> = O extends { parameters: { path: infer T } } ? { readonly path: Readonly<T> } : unknown;
type QueryPart<O> = O extends { parameters: { query: infer Q extends object } }
  ? { readonly query: Loose<Q> }
  : O extends { parameters: { query?: infer Q } }
    ? { readonly query?: Loose<NonNullable<Q>> }
    : unknown;
type BodyPart<O> = O extends { requestBody: { content: { "application/json": infer B } } }
  ? { readonly body: Readonly<B> }
  : O extends { requestBody?: { content: { "application/json": infer B } } }
    ? { readonly body?: Readonly<B> }
    : unknown;

/** How a call is made, whatever it calls. */
export interface CallSettings {
  /** Ends the call, its retries and its waits. */
  readonly signal?: AbortSignal | undefined;
  /** For one attempt. Default: that of the client. */
  readonly timeoutMs?: number;
  /** How often a failed attempt is repeated. Default: that of the client. */
  readonly retries?: number;
  /** An `ETag`: the change is made only while the object has it. */
  readonly ifMatch?: string;
  /** Default: a new one for each call of an operation that takes one. */
  readonly idempotencyKey?: string;
}

export type CallOf<O> = PathPart<O> & QueryPart<O> & BodyPart<O> & CallSettings;
/** The arguments behind the path: none are needed when the operation needs none. */
export type CallArguments<O> = {} extends CallOf<O> ? [call?: CallOf<O>] : [call: CallOf<O>];
