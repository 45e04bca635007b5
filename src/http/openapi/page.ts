/** The page that shows the description of the API to people. It has no script, and asks for nothing from elsewhere. */
import { createHash } from "node:crypto";
import type { Pieces } from "../../app/pieces.ts";
import type { OpenApiDocument, Operation, Parameter, Reference, Response } from "./document.ts";
import type { JsonSchema } from "./schemas.ts";

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
summary { cursor: pointer; padding: 0.3rem 0; }
details { border-top: 1px solid #8886; }
details > :not(summary) { margin-left: 1.2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.15rem 0.8rem 0.15rem 0; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 600; }
`;
const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** What a browser may load for the page: its own style, and nothing else. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function* renderPage(document: OpenApiDocument): Pieces<string> {
  const byTag = new Map<string, string[]>(document.tags.map(({ name }) => [name, []]));
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      byTag.get(operation.tags[0]!)!.push(operationOf(method, path, operation, document));
      yield;
    }
  }
  const schemas: string[] = [];
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    schemas.push(`<details id="schema-${text(name)}"><summary>${text(name)}</summary>${membersOf(schema)}</details>`);
    yield;
  }
  const title = "The HTTP API of millrace";
  const links = [...byTag.keys()].map((tag) => `<a href="#tag-${text(tag)}">${text(tag)}</a>`);
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>`,
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head><body><h1>${title}</h1>`,
    `<p>For programs: <a href="openapi.json">openapi.json</a>. Every call needs a bearer token, except where it says so.</p>`,
    `<nav>${links.join(" · ")} · <a href="#schemas">Schemas</a></nav>`,
    ...[...byTag].map(
      ([tag, parts]) => `<section><h2 id="tag-${text(tag)}">${text(tag)}</h2>${parts.join("")}</section>`,
    ),
    `<section><h2 id="schemas">Schemas</h2>${schemas.join("")}</section></body></html>`,
  ].join("\n");
}

function operationOf(method: string, path: string, operation: Operation, document: OpenApiDocument): string {
  const { operationId, summary, parameters = [], requestBody, responses, security } = operation;
  const body = Object.entries(requestBody?.content ?? {}).map(
    ([type, { schema }]) => `<h4>Body, <code>${text(type)}</code></h4>${membersOf(schema)}`,
  );
  const answers = Object.entries(responses).map(
    ([status, response]) => `<tr><td>${status}</td><td>${answerOf(response, document)}</td></tr>`,
  );
  return [
    `<details id="${text(operationId)}"><summary><span class="method">${method.toUpperCase()}</span> `,
    `<code>${text(path)}</code><br>${text(summary)}</summary>`,
    `<p><code>${text(operationId)}</code>${security === undefined ? "" : ", needs no token"}</p>`,
    parameters.length === 0 ? "" : `<h4>Parameters</h4>${parametersOf(parameters)}`,
    ...body,
    `<h4>Answers</h4><table>${answers.join("")}</table></details>`,
  ].join("");
}

function parametersOf(parameters: readonly Parameter[]): string {
  const rows = parameters.map(({ name, in: place, required, description = "", schema }) => {
    const about = `${place}${required ? ", required" : ""}. ${description}`;
    return `<tr><td><code>${text(name)}</code></td><td>${typeOf(schema)}</td><td>${text(about)}</td></tr>`;
  });
  return `<table>${rows.join("")}</table>`;
}

function answerOf(response: Response | Reference, { components }: OpenApiDocument): string {
  const { description, content = {} } =
    "$ref" in response ? components.responses[response.$ref.split("/").at(-1)!]! : response;
  const types = Object.entries(content).map(([type, { schema }]) => {
    const { properties } = schema as { readonly properties?: { readonly detail?: JsonSchema } };
    if (properties === undefined) return type === "application/json" ? typeOf(schema) : `<code>${text(type)}</code>`;
    return properties.detail === undefined
      ? "no <code>detail</code>"
      : `<code>detail</code>: ${typeOf(properties.detail)}`;
  });
  return [text(description).replace(/`([^`]*)`/g, "<code>$1</code>"), ...types].join(" ");
}

/** The members of an object, or the type of another value. */
function membersOf(schema: JsonSchema): string {
  const { properties, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  if (properties === undefined) return `<p>${typeOf(schema)}</p>`;
  const rows = Object.entries(properties).map(
    ([name, member]) =>
      `<tr><td><code>${text(name)}</code></td><td>${typeOf(member)}</td><td>${required.includes(name) ? "" : "optional"}</td></tr>`,
  );
  return `<table>${rows.join("")}</table>`;
}

/** How a type reads in one line. */
function typeOf(schema: JsonSchema): string {
  const { $ref, anyOf, oneOf, type, items, properties, additionalProperties, enum: words } = schema;
  if (typeof $ref === "string") {
    const name = text($ref.split("/").at(-1)!);
    return `<a href="#schema-${name}">${name}</a>`;
  }
  const choices = (anyOf ?? oneOf) as readonly JsonSchema[] | undefined;
  if (choices !== undefined) return choices.map(typeOf).join(" or ");
  if (Array.isArray(words)) return words.map((word) => `<code>${text(JSON.stringify(word))}</code>`).join(", ");
  if ("const" in schema) return `<code>${text(JSON.stringify(schema["const"]))}</code>`;
  if (type === "array") return `list of ${typeOf((items ?? {}) as JsonSchema)}`;
  if (properties !== undefined) {
    const members = Object.entries(properties as Record<string, JsonSchema>);
    return `{ ${members.map(([name, member]) => `<code>${text(name)}</code>: ${typeOf(member)}`).join(", ")} }`;
  }
  if (typeof additionalProperties === "object" && additionalProperties !== null) {
    return `map of ${typeOf(additionalProperties as JsonSchema)}`;
  }
  return type === undefined ? "any value" : text([type].flat().map(String).join(" or "));
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function text(plain: string): string {
  return plain.replace(/[&<>"]/g, (character) => ESCAPES[character]!);
}
