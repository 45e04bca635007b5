/** Calls of hosts' APIs against the descriptions that the hosts publish. */
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { readFileSync } from "node:fs";
import type { ProviderName } from "../../src/providers/provider.ts";

export interface HostCall {
  readonly method: string;
  /** Behind the base of the API. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Null for none. */
  readonly body: unknown;
}

export interface HostAnswer {
  readonly status: number;
  readonly body: object;
}

type Schema = Readonly<Record<string, unknown>>;
interface Content {
  readonly $ref?: string;
  readonly content?: { readonly "application/json": { readonly schema: Schema } };
}
interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}
interface Operation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, never>>>>;
  readonly examples: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const FILES: Partial<Record<ProviderName, string>> = { github: "github", gitea: "gitea", forgejo: "gitea" };
const opened = new Map<string, HostSchemas>();

/** Undefined for a host that publishes no description. */
export function schemasOf(name: ProviderName): HostSchemas | undefined {
  const file = FILES[name];
  if (file === undefined) return undefined;
  const schemas = opened.get(file) ?? new HostSchemas(file);
  opened.set(file, schemas);
  return schemas;
}

export class HostSchemas {
  readonly #description: Description;
  readonly #ajv = new Ajv({ strict: false, allErrors: true, coerceTypes: false });
  readonly #coercing = new Ajv({ strict: false, coerceTypes: true, validateFormats: false });
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(file: string) {
    const text = readFileSync(new URL(`../fixtures/host-apis/${file}.json`, import.meta.url), "utf8");
    this.#description = JSON.parse(text) as Description;
    addFormats.default(this.#ajv);
    for (const format of ["int64", "repo.nwo", "timestamp"]) this.#ajv.addFormat(format, true);
    const { paths, components } = this.#description;
    this.#ajv.addSchema(plain({ paths, components }) as object, "api");
  }

  /** An example of the description. */
  example(name: string): Readonly<Record<string, unknown>> {
    return this.#description.examples[name]!;
  }

  /** What is wrong with a call; undefined for nothing. Also for a call that no part of the description is about. */
  problemOf(call: HostCall): string | undefined {
    const found = this.#find(call);
    if (found === undefined) return `there is no ${call.method} ${call.path}`;
    const { operation, pointer, values } = found;
    const given = [...values, ...[...call.query].map(([name, value]) => ["query", name, value] as const)];
    for (const [place, name, value] of given) {
      const parameter = operation.parameters
        .map((each) => this.#resolved(each))
        .find((each) => each.name === name && each.in === place);
      if (parameter === undefined) return `there is no parameter ${name}`;
      // A text from an address is what the schema asks for.
      if (!this.#coercing.validate({ properties: { value: plain(parameter.schema) } }, { value })) {
        return `${name} is ${value}`;
      }
    }
    return call.body === null ? undefined : this.#bodyProblem(operation, pointer, call.body);
  }

  /** What is wrong with an answer to a good call; undefined for nothing. */
  answerProblemOf(call: HostCall, { status, body }: HostAnswer): string | undefined {
    const { operation, pointer } = this.#find(call)!;
    const response = operation.responses[status];
    if (response === undefined) return `the status ${status} is not described`;
    const place = response.$ref?.slice(1) ?? `${pointer}/responses/${status}`;
    if (this.#resolved(response).content === undefined) return undefined;
    return this.#check(`${place}/content/application~1json/schema`, body);
  }

  #bodyProblem({ requestBody }: Operation, pointer: string, body: unknown): string | undefined {
    const schema = requestBody && this.#resolved(requestBody).content?.["application/json"].schema;
    if (schema === undefined) return "it takes no body";
    const known = Object.keys((this.#resolved(schema) as { readonly properties?: object }).properties ?? {});
    const unknown = Object.keys(body as object).find((name) => !known.includes(name));
    if (unknown !== undefined) return `the body has no member ${unknown}`;
    return this.#check(`${pointer}/requestBody/content/application~1json/schema`, body);
  }

  #check(pointer: string, value: unknown): string | undefined {
    const validate = this.#compiled.get(pointer) ?? this.#ajv.compile({ $ref: `api#${pointer}` });
    this.#compiled.set(pointer, validate);
    return validate(value) ? undefined : this.#ajv.errorsText(validate.errors);
  }

  #find({ method, path }: HostCall) {
    for (const [template, operations] of Object.entries(this.#description.paths)) {
      const operation = operations[method.toLowerCase()];
      const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
      // The name of a branch, which ends the path, may have slashes.
      const pattern = template.replaceAll(/\{(\w+)\}/g, (_, name) => (name === "head" ? "(.+)" : "([^/]+)"));
      const match = new RegExp(`^${pattern}$`).exec(path);
      if (operation === undefined || match === null) continue;
      const values = names.map((name, index) => ["path", name, decodeURIComponent(match[index + 1]!)] as const);
      const pointer = `/paths/${template.replaceAll("/", "~1").replaceAll(/[{}]/g, encodeURIComponent)}`;
      return { operation, values, pointer: `${pointer}/${method.toLowerCase()}` };
    }
    return undefined;
  }

  #resolved<T extends { readonly $ref?: string } | Schema>(value: T): T {
    const reference = value["$ref" as keyof T] as string | undefined;
    if (reference === undefined) return value;
    const [, , group = "", name = ""] = reference.split("/");
    return this.#description.components[group]![name]!;
  }
}

/** `nullable` of OpenAPI 3.0 in the words of JSON Schema. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const { nullable, ...others } = value as Readonly<Record<string, unknown>>;
  const changed = Object.fromEntries(Object.entries(others).map(([key, each]) => [key, plain(each)]));
  return nullable === true ? { anyOf: [changed, { type: "null" }] } : changed;
}
