/** The OpenAPI 3.1 document of the routes. */
import type { z } from "zod";
import type { Pieces } from "../../app/pieces.ts";
import { ERROR_TABLE, type ErrorReason } from "../../domain/errors.ts";
import type { RouteFacts } from "../route.ts";
import { ERROR_TEXTS } from "./error-texts.ts";
import { ErrorShape } from "./error-shape.ts";
import { type JsonSchema, SchemaMaker, type SchemaOptions } from "./schemas.ts";

export const API_PREFIX = "/api/v1";
/** The version of the interface, which the paths carry too. */
const API_VERSION = "1";

const JSON_TYPE = "application/json";

/** Routes that are at the root, and those below `/api/v1`. */
export interface DescribedRoutes {
  readonly root: readonly RouteFacts[];
  readonly api: readonly RouteFacts[];
}

export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: JsonSchema;
  readonly security: readonly JsonSchema[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Record<string, Operation>>>;
  readonly components: {
    readonly securitySchemes: JsonSchema;
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security?: readonly [];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

export interface Reference {
  readonly $ref: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

export interface Response {
  readonly description: string;
  readonly headers?: JsonSchema;
  readonly content?: Content;
}

/** Schemas, and the answers that several routes share. */
class Maker extends SchemaMaker {
  readonly failures: Record<string, Response> = {};
}

/** The document of the routes, made in pieces: all of it takes a tenth of a second in a process that just started. */
export function* describeApi(routes: DescribedRoutes, options: SchemaOptions): Pieces<OpenApiDocument> {
  const maker = new Maker(options);
  const paths: Record<string, Record<string, Operation>> = {};
  const tags = new Set<string>();
  for (const [prefix, all] of [
    [API_PREFIX, routes.api],
    ["", routes.root],
  ] as const) {
    for (const route of all) {
      tags.add(route.tag);
      for (const [path, suffix] of pathsOf(prefix + route.path)) {
        (paths[path] ??= {})[route.method.toLowerCase()] = describe(route, path, suffix, maker);
      }
      yield;
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "millrace",
      version: API_VERSION,
      description: "The HTTP API of millrace. Errors have the envelope `Error`; programs test its `reason`.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ bearer: [] }],
    tags: [...tags].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      responses: sorted(maker.failures),
      schemas: sorted(maker.named),
    },
  };
}

/** The errors that a route may give, with those that every route may give. */
export function reasonsOf({ errors, isOpen, isConditional, body, bodyType }: RouteFacts): readonly ErrorReason[] {
  const reasons: ErrorReason[] = ["malformed_request", "too_many", "internal", "unavailable", ...errors];
  if (!isOpen) reasons.push("unauthenticated", "forbidden");
  reasons.push("not_acceptable");
  if (isConditional) reasons.push("precondition_failed");
  if (body !== null || bodyType !== null) reasons.push("payload_too_large", "unsupported_media_type");
  return [...new Set(reasons)];
}

/**
 * The paths of a pattern as OpenAPI writes them, each with what is added to the name of the operation: an optional part
 * makes two paths.
 */
export function pathsOf(pattern: string): readonly (readonly [path: string, suffix: string])[] {
  const written = (text: string) => text.replace(/[:*](\w+)/g, "{$1}");
  const [whole, optional] = pattern.split(/\{(.*)\}$/) as [string, string?];
  if (optional === undefined) return [[written(whole), ""]];
  return [
    [written(whole), ""],
    [written(whole + optional), "File"],
  ];
}

function describe(route: RouteFacts, path: string, suffix: string, maker: Maker): Operation {
  const parameters = [
    ...pathParameters(path, route.path),
    ...queryParameters(route.query, maker),
    ...ticketParameter(route),
    ...headerParameters(route),
  ];
  const requestBody = describeBody(route, maker);
  return {
    operationId: route.name + suffix,
    summary: route.about,
    tags: [route.tag],
    ...(route.isOpen ? { security: [] as const } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    // A status that the route declares has the meaning of the route: RFC 8628 has errors of its own.
    responses: { ...failures(route, maker), ...successes(route, maker) },
  };
}

function pathParameters(path: string, pattern: string): Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name: name!,
    in: "path",
    required: true,
    ...(pattern.includes(`*${name}`) ? { description: "It may contain slashes." } : {}),
    schema: { type: "string", minLength: 1 },
  }));
}

function queryParameters(query: z.ZodType | null, maker: Maker): Parameter[] {
  if (query === null) return [];
  const { properties = {}, required = [] } = maker.input(query) as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

/** A shape of the query has the field itself. */
function ticketParameter({ acceptsTicket, query }: RouteFacts): Parameter[] {
  if (!acceptsTicket || query !== null) return [];
  const description = "Of `POST /auth/tickets`, in place of a token.";
  return [{ name: "ticket", in: "query", required: false, description, schema: { type: "string", maxLength: 200 } }];
}

function headerParameters({ isConditional, hasTag, method, acceptsKey }: RouteFacts): Parameter[] {
  const header = (name: string, description: string): Parameter => {
    return { name, in: "header", required: false, description, schema: { type: "string", maxLength: 200 } };
  };
  return [
    ...(hasTag && method === "GET" ? [header("If-None-Match", "Answers 304 while the object has this `ETag`.")] : []),
    ...(isConditional ? [header("If-Match", "Changes the object only while it has this `ETag`; else 412.")] : []),
    ...(acceptsKey ? [header("Idempotency-Key", "Makes the call safe to repeat, as `requestId` does.")] : []),
  ];
}

function describeBody({ body, bodyType }: RouteFacts, maker: Maker): Operation["requestBody"] {
  if (bodyType !== null) return { required: true, content: { [bodyType]: { schema: {} } } };
  if (body === null) return undefined;
  // A missing body counts as an object without members.
  const required = !body.safeParse({}).success;
  return { required, content: { [JSON_TYPE]: { schema: maker.input(body) } } };
}

function successes(route: RouteFacts, maker: Maker): Record<string, Response> {
  const { statuses, answer, answerType, streamType, plainAnswers } = route;
  return Object.fromEntries(
    statuses.map((status): [string, Response] => {
      const description = SUCCESSES[status] ?? "Success.";
      if (status === 101 || status === 204 || status === 304) return [`${status}`, { description }];
      const plain = plainAnswers[status];
      const content: Content =
        answerType === null
          ? {
              [JSON_TYPE]: { schema: envelopeOf(answer, maker) },
              ...(streamType !== null && { [streamType]: { schema: {} } }),
            }
          : { [answerType]: { schema: plain === undefined ? {} : plainSchema(status, plain, maker) } };
      return [`${status}`, { description, content }];
    }),
  );
}

const SUCCESSES: Readonly<Record<number, string>> = {
  101: "The connection speaks WebSocket from here on.",
  204: "Nothing can follow: the call need not be repeated.",
  206: "The part that `Range` asks for.",
  304: "What the caller has is current.",
};

/** A refusal by what the standard of the route does not know, such as a body that is no JSON, has the envelope. */
function plainSchema(status: number, plain: z.ZodType, maker: Maker): JsonSchema {
  return status < 400 ? maker.output(plain) : { anyOf: [maker.output(plain), maker.output(ErrorShape)] };
}

function envelopeOf(answer: z.ZodType | null, maker: Maker): JsonSchema {
  const detail = answer === null ? {} : { detail: maker.output(answer) };
  return {
    type: "object",
    properties: { code: { const: 0 }, msg: { type: "string" }, ...detail, timestamp: { type: "integer" } },
    required: ["code", "msg", ...Object.keys(detail), "timestamp"],
    ...(maker.closesAnswers ? { additionalProperties: false } : {}),
  };
}

function failures(route: RouteFacts, maker: Maker): Record<string, Reference> {
  const byStatus = new Map<number, ErrorReason[]>();
  for (const reason of reasonsOf(route)) {
    const { http } = ERROR_TABLE[reason];
    byStatus.set(http, [...(byStatus.get(http) ?? []), reason]);
  }
  const schema = maker.output(ErrorShape);
  return Object.fromEntries(
    [...byStatus].map(([status, reasons]) => {
      const name = reasons.join("-or-");
      maker.failures[name] ??= {
        description: reasons.map((reason) => `\`${reason}\`: ${ERROR_TEXTS[reason].when}.`).join(" "),
        content: { [JSON_TYPE]: { schema } },
      };
      return [`${status}`, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

function sorted<T>(parts: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1)));
}
