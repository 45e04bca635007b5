/**
 * The description of the API, for programs and for people, and that of definitions. They need no token: they are the same for
 * every installation.
 */
import type { AppContext } from "../../app/context.ts";
import { doInTurns } from "../../app/pieces.ts";
import { HEALTH_ROUTES } from "../health.ts";
import { OPEN_LOGIN_ROUTES, SESSION_ROUTES } from "../login/login-routes.ts";
import { LIVE_ROUTES } from "../live/live-routes.ts";
import { sendTag, tagOfJson } from "../manners/entity-tags.ts";
import { type RouteFacts, routesFor } from "../route.ts";
import { API_ROUTES } from "../routes/all.ts";
import { OPEN_HOOK_ROUTES } from "../routes/open-hook-routes.ts";
import { WELL_KNOWN_ROUTES } from "../routes/id-token-routes.ts";
import { describeApi, type DescribedRoutes, type OpenApiDocument } from "./document.ts";
import { PAGE_POLICY, renderPage } from "./page.ts";

const route = routesFor<AppContext>("Description");

export const OPENAPI_ROUTES = [
  route({
    method: "GET",
    path: "/openapi.json",
    name: "readOpenApi",
    about: "Reads this description, an OpenAPI 3.1 document.",
    answer: null,
    answerType: "application/json",
    isOpen: true,
    async send(_, { ctx }) {
      const { json } = await description();
      ctx.type = "json";
      ctx.body = json;
    },
  }),
  route({
    method: "GET",
    path: "/docs",
    name: "readDocs",
    about: "Reads this description as a page for people.",
    answer: null,
    answerType: "text/html",
    isOpen: true,
    async send(_, { ctx }) {
      const { page } = await description();
      ctx.set("Content-Security-Policy", PAGE_POLICY);
      ctx.type = "html";
      ctx.body = page;
    },
  }),
  route({
    method: "GET",
    path: "/definitions/schema",
    name: "readDefinitionSchema",
    about: "Reads the JSON Schema of definitions, for editors.",
    answer: null,
    answerType: "application/json",
    statuses: [200, 304],
    isOpen: true,
    async send(_, { ctx }) {
      const { json, tag } = await definitionSchema();
      ctx.type = "json";
      ctx.body = json;
      ctx.set("Cache-Control", `public, max-age=${SCHEMA_SECONDS}`);
      sendTag(ctx, tag);
    },
  }),
];

/** For so long a program takes the schema of definitions from its cache; an upgrade of the server changes the schema. */
const SCHEMA_SECONDS = 300;

export const DESCRIBED_ROUTES: DescribedRoutes = {
  root: [...HEALTH_ROUTES, ...WELL_KNOWN_ROUTES] satisfies readonly RouteFacts[],
  api: [...OPENAPI_ROUTES, ...OPEN_LOGIN_ROUTES, ...OPEN_HOOK_ROUTES, ...API_ROUTES, ...LIVE_ROUTES, ...SESSION_ROUTES],
};

interface Description {
  readonly json: Buffer;
  readonly page: Buffer;
}

const description = once(async () =>
  rendered(await doInTurns(describeApi(DESCRIBED_ROUTES, { closesAnswers: false }))),
);
const definitionSchema = once(async () => {
  const { definitionJsonSchemaInPieces } = await import("../../definition/json-schema.ts");
  const json = Buffer.from(JSON.stringify(await doInTurns(definitionJsonSchemaInPieces())));
  return { json, tag: tagOfJson(json) };
});

/** Makes a thing at the first call, and again after a call that has failed. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}

async function rendered(document: OpenApiDocument): Promise<Description> {
  return {
    json: Buffer.from(JSON.stringify(document)),
    page: Buffer.from(await doInTurns(renderPage(document))),
  };
}
