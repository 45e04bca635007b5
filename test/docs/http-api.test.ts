/** docs/http-api.md lists every route, status code and error of the HTTP edge. */
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { Registry } from "prom-client";
import { ERROR_TABLE } from "../../src/domain/errors.ts";
import { JOB_STATUS_CODES, RUN_STATUS_CODES, STEP_STATUS_CODES } from "../../src/domain/status.ts";
import { createHttpServer } from "../../src/http/server/server.ts";
import { openTestEdge } from "../support/edge.ts";
import { readTable } from "../support/markdown-table.ts";
import { readPage, under } from "../support/pages.ts";

const PAGE = readPage("docs/http-api.md");
/** Routes that the page names in a sentence, because they are not below the prefix. */
const AT_THE_ROOT = ["GET /healthz", "GET /readyz"];
const PREFIX = "/api/v1";

/** A middleware of `@koa/router`, which lists its routes. */
interface RouterMiddleware {
  readonly router?: { readonly stack: readonly { readonly methods: readonly string[]; readonly path: string }[] };
}

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

const OPENAPI = JSON.parse(readPage("docs/openapi.json")) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** The operation of a route as the page writes it. The description has other names for some parts of a path. */
function operationOf(method: string, route: string): Operation {
  const shape = (path: string) => path.replace(PREFIX, "").replaceAll(/\{[^}]*\}|:\w+|\*\w+/g, "X");
  const path = Object.keys(OPENAPI.paths).find((each) => shape(each) === shape(route));
  return (path === undefined ? undefined : OPENAPI.paths[path]![method.toLowerCase()]) ?? { responses: {} };
}

const answerOf = (route: string): Schema =>
  operationOf("GET", route).responses["200"]!.content["application/json"]!.schema;

/** The properties of an object, also of one of several shapes. */
function propertiesOf({ $ref, allOf, anyOf, oneOf, properties }: Schema): Readonly<Record<string, Schema>> {
  if ($ref !== undefined) return propertiesOf(OPENAPI.components.schemas[$ref.split("/").at(-1)!]!);
  return Object.assign(
    {},
    properties,
    ...[allOf, anyOf, oneOf].flatMap((parts) => parts ?? []).map(propertiesOf),
  ) as Record<string, Schema>;
}

/** The names of `{ a, b?: ... }` at the beginning of a cell, and of a second such object behind "or"; else undefined. */
function fieldsOf(cell: string): readonly string[] | undefined {
  const objects = [...cell.matchAll(/(?:^|or )`\{ (.*?) \}`/g)].map(([, inside]) => inside!);
  if (objects.length === 0) return undefined;
  const flat = objects.map((inside) => inside.replaceAll(/\[.*?\]|\{[^{}]*\}/g, ""));
  return flat.flatMap((inside) => inside.split(",").map((field) => field.trim().replace(/[?:].*$/s, "")));
}

describe("the page of the HTTP API", () => {
  it("has a row for every route, and no other", async () => {
    const edge = await openTestEdge();
    const { app } = createHttpServer(edge.context, { registry: new Registry(), readiness: {} });
    const stacks = (app.middleware as readonly RouterMiddleware[]).flatMap(({ router }) => router?.stack ?? []);
    await edge.close();
    const served = stacks.flatMap(({ methods, path }) =>
      methods.filter((method) => method !== "HEAD").map((method) => `${method} ${path.replace(PREFIX, "")}`),
    );
    const documented = [...PAGE.matchAll(/^\| `((?:GET|POST|PUT|PATCH|DELETE) \/[^`]*)`/gm)].map(([, route]) => route);
    expect(served).to.have.length.of.at.least(50);
    expect([...documented, ...AT_THE_ROOT]).to.have.members(served);
    for (const route of AT_THE_ROOT) expect(PAGE).to.include(`\`${route}\``);
  });

  it("has the error table of the code", () => {
    const rows = readTable(under(PAGE, "Errors")).map((cells) =>
      cells.slice(0, 4).map((cell) => cell.replaceAll("`", "")),
    );
    const expected = Object.entries(ERROR_TABLE).map(([reason, { http, grpc, retry }]) => {
      return [reason, String(http), status[grpc], retry];
    });
    expect(rows).to.deep.equal(expected);
  });

  it("names every field of a body that it spells out, and no other", () => {
    const wrong = [...PAGE.matchAll(/^\| `(POST|PUT|PATCH) (\/[^`]*)` .*$/gm)].flatMap(([row, method, path]) => {
      const written = fieldsOf(row!.split(/(?<!\\)\|/)[3]!.trim());
      const body = operationOf(method!, path!).requestBody?.content["application/json"]?.schema;
      if (written === undefined || body === undefined) return [];
      const fields = new Set(Object.keys(propertiesOf(body)));
      const [lacks, invents] = [
        [...fields].filter((name) => !written.includes(name)),
        written.filter((name) => !fields.has(name)),
      ];
      return [...lacks.map((name) => `${path} lacks ${name}`), ...invents.map((name) => `${path} has no ${name}`)];
    });
    expect(wrong).to.deep.equal([]);
  });

  it("has the fields of a run, a job and a step", () => {
    const rows = readTable(under(PAGE, "Runs").slice(under(PAGE, "Runs").indexOf("| What")));
    const written = rows.map(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
    const [listed, further, job, step] = written;
    const detail = (path: string) => propertiesOf(propertiesOf(answerOf(path))["detail"]!);
    const run = detail("/pipelines/runs/:runId");
    const jobFields = propertiesOf(run["jobs"]!.items!);
    expect(listed).to.have.members(Object.keys(propertiesOf(detail("/runs")["list"]!.items!)));
    expect([...listed!, ...further!]).to.have.members(Object.keys(run));
    expect(job).to.have.members(Object.keys(jobFields));
    expect(step).to.have.members(Object.keys(propertiesOf(jobFields["steps"]!.items!)));
  });

  it("has the numeric codes of statuses", () => {
    const rows = readTable(under(PAGE, "Runs").slice(under(PAGE, "Runs").indexOf("| Object")));
    const render = (codes: Readonly<Record<string, number>>) =>
      Object.entries(codes)
        .map(([word, code]) => `${word} ${code}`)
        .join(", ");
    expect(rows).to.deep.equal([
      ["run", render(RUN_STATUS_CODES)],
      ["job", render(JOB_STATUS_CODES)],
      ["step", render(STEP_STATUS_CODES)],
    ]);
  });
});
