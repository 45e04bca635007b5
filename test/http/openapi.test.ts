/** The description of the API: valid, up to date, complete, and shown to people without scripts. */
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect } from "chai";
import { definitionJsonSchema } from "../../src/definition/json-schema.ts";
import { problemOfAnswer } from "../support/answer-check.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { describeAtOnce } from "../support/openapi-document.ts";

const COMMITTED: unknown = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8"));

interface BodySchema {
  readonly $ref?: string;
  readonly anyOf?: readonly BodySchema[];
  readonly oneOf?: readonly BodySchema[];
  readonly additionalProperties?: unknown;
}

type Contents = Readonly<Record<string, { readonly schema: BodySchema } | undefined>>;

describe("the description of the API", () => {
  let edge: TestEdge;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());

  it("is the committed one, and is served to callers without a token", async () => {
    expect(describeAtOnce({ closesAnswers: false }), "run npm run generate").to.deep.equal(COMMITTED);
    const served = await edge.call("GET", "/api/v1/openapi.json", { token: null });
    expect(served.body).to.deep.equal(COMMITTED);
  });

  it("is a valid OpenAPI 3.1 document whose operations have names of their own", async () => {
    const { valid, errors } = await new Validator().validate(COMMITTED as Record<string, unknown>);
    expect(errors).to.equal(undefined);
    expect(valid).to.equal(true);
    const { paths } = describeAtOnce({ closesAnswers: false });
    const names = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
    expect(new Set(names)).to.have.property("size", names.length);
    expect(names).to.include.members(["triggerRun", "listRuns", "readArtifact", "readArtifactFile", "login"]);
  });

  it("names every member that a body may have, so that no caller sets another one, except of deliveries of hooks", () => {
    const { paths, components } = COMMITTED as {
      readonly paths: Record<string, Record<string, { readonly requestBody?: { readonly content: Contents } }>>;
      readonly components: { readonly schemas: Record<string, BodySchema> };
    };
    const isClosed = ({ $ref, anyOf, oneOf, additionalProperties }: BodySchema): boolean => {
      if ($ref !== undefined) return isClosed(components.schemas[$ref.split("/").at(-1)!]!);
      return (anyOf ?? oneOf)?.every(isClosed) ?? additionalProperties === false;
    };
    const bodies = Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).flatMap(({ requestBody }) => {
        const schema = requestBody?.content["application/json"]?.schema;
        return schema === undefined ? [] : [{ path, schema }];
      }),
    );
    expect(bodies).to.have.length.above(50);
    const open = bodies.filter(({ schema }) => !isClosed(schema)).map(({ path }) => path);
    expect(open).to.deep.equal(["/api/v1/hooks/{hookId}"]);
  });

  it("refuses an answer with a member, a status or an error that it does not name", async () => {
    const { status, body } = await edge.call("GET", "/api/v1/whoami");
    const check = (path: string, answer: { readonly status: number; readonly body: unknown }) =>
      problemOfAnswer("GET", path, { type: "application/json", ...answer });
    expect(check("/api/v1/whoami", { status, body })).to.equal(undefined);
    const wider = { ...body, detail: { ...body.detail, user: { ...body.detail.user, passwordHash: "" } } };
    expect(check("/api/v1/whoami", { status, body: wider })).to.include("must NOT have additional properties");
    expect(check("/api/v1/whoami", { status: 201, body })).to.include("does not declare the status");
    const missing = await edge.call("GET", "/api/v1/pipelines/pl_none");
    expect(check("/api/v1/whoami", missing)).to.include("does not declare the error not_found");
  });

  it("has the schema of definitions that the command line prints, which is sent once while it stays the same", async () => {
    const path = "/api/v1/definitions/schema";
    const { body, headers } = await edge.call("GET", path, { token: null });
    expect(body).to.deep.equal(JSON.parse(JSON.stringify(definitionJsonSchema())));
    expect(headers.get("cache-control")).to.equal("public, max-age=300");
    const known = { headers: { "if-none-match": headers.get("etag")! } };
    expect((await edge.call("GET", path, { token: null, ...known })).status).to.equal(304);
  });

  it("is shown as a page that loads nothing and runs nothing", async () => {
    const response = await fetch(`${edge.origin}/api/v1/docs`);
    const page = await response.text();
    const policy = response.headers.get("content-security-policy")!;
    expect(response.headers.get("content-type")).to.include("text/html");
    expect(policy).to.match(/^default-src 'none'; style-src 'sha256-[^']+';/);
    expect(page).not.to.match(/<script|\ssrc=|\son\w+=|https?:\/\//i);
    const { paths, components } = describeAtOnce({ closesAnswers: false });
    for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
      expect(page).to.include(`id="${operation.operationId}"`);
    }
    const linked = [...page.matchAll(/href="#schema-(\w+)"/g)].map(([, name]) => name);
    expect(Object.keys(components.schemas)).to.include.members(linked);
  });
});
