/**
 * Compares answers of the HTTP edge with the description of the API: the status, the reason of an error, and the body,
 * which may have no member that its shape does not have.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { type OpenApiDocument, reasonsOf } from "../../src/http/openapi/document.ts";
import { DESCRIBED_ROUTES } from "../../src/http/openapi/openapi-routes.ts";
import type { RouteFacts } from "../../src/http/route.ts";
import { describeAtOnce } from "./openapi-document.ts";

export interface CheckedAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
}

interface Described {
  readonly route: RouteFacts;
  readonly pattern: RegExp;
  readonly path: string;
}

const API = "/api/v1";
/** Reasons of answers to requests that match no route. */
const UNMATCHED = [
  "too_many",
  "not_found",
  "method_not_allowed",
  "malformed_request",
  "unauthenticated",
  "forbidden",
  "unavailable",
];

let description: OpenApiDocument | undefined;
let ajv: Ajv2020 | undefined;
const validators = new Map<string, ValidateFunction>();
const described: readonly Described[] = [
  ...DESCRIBED_ROUTES.api.map((route) => describedRoute(API + route.path, route)),
  ...DESCRIBED_ROUTES.root.map((route) => describedRoute(route.path, route)),
];

/** What is wrong with the answer, as a text; undefined for an answer that is as described. */
export function problemOfAnswer(method: string, target: string, answer: CheckedAnswer): string | undefined {
  const path = target.split("?", 1)[0]!;
  const found = described.find(({ route, pattern }) => route.method === method && pattern.test(path));
  const what = `${method} ${path} answered ${answer.status} ${JSON.stringify(answer.body)?.slice(0, 2_000)}`;
  const isError = answer.status >= 400 && found?.route.statuses.includes(answer.status) !== true;
  const problem = isError ? problemOfError(found, answer) : problemOfSuccess(found, method, answer);
  return problem === undefined ? undefined : `${problem}: ${what}`;
}

function describedRoute(path: string, route: RouteFacts): Described {
  const source = path
    .replace(/\{\/\*\w+\}/, "(?:/.+)?")
    .replace(/\*\w+/g, ".+")
    .replace(/:\w+/g, "[^/]+");
  return { route, path: path.replace(/\{.*\}$/, "").replace(/[:*](\w+)/g, "{$1}"), pattern: new RegExp(`^${source}$`) };
}

function problemOfError(found: Described | undefined, { body }: CheckedAnswer): string | undefined {
  const invalid = invalidity("#/components/schemas/Error", body);
  if (invalid !== undefined) return invalid;
  const { reason } = body as { readonly reason: string };
  const reasons: readonly string[] = found === undefined ? UNMATCHED : reasonsOf(found.route);
  return reasons.includes(reason) ? undefined : `the route does not declare the error ${reason}`;
}

function problemOfSuccess(found: Described | undefined, method: string, answer: CheckedAnswer): string | undefined {
  if (found === undefined) return method === "HEAD" || method === "OPTIONS" ? undefined : "no route is declared";
  const { route, path } = found;
  if (!route.statuses.includes(answer.status)) return "the route does not declare the status";
  if (answer.status === 304) return undefined;
  if (route.answerType !== null && route.plainAnswers[answer.status] === undefined) {
    return answer.type.startsWith(route.answerType) ? undefined : `the answer has the type ${answer.type}`;
  }
  const pointer = ["paths", path, method.toLowerCase(), "responses", `${answer.status}`, "content", "application/json"];
  return invalidity(`#/${[...pointer, "schema"].map(escaped).join("/")}`, answer.body);
}

function invalidity(pointer: string, value: unknown): string | undefined {
  let validate = validators.get(pointer);
  if (validate === undefined) {
    if (ajv === undefined) {
      description ??= describeAtOnce({ closesAnswers: true });
      ajv = new Ajv2020({ strict: false, allErrors: true });
      addFormats.default(ajv);
      ajv.addSchema(description, "api");
    }
    validate = ajv.compile({ $ref: `api${pointer}` });
    validators.set(pointer, validate);
  }
  return validate(value) ? undefined : `the answer is not as described (${ajv!.errorsText(validate.errors)})`;
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}
