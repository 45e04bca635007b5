/** Routes of the identity tokens of jobs: the request of a job, and the two public documents by which others verify tokens. */
import type { AppContext } from "../../app/context.ts";
import {
  idTokenBody,
  IdTokenShape,
  issueIdToken,
  jsonWebKeySet,
  JwksShape,
  openIdConfiguration,
  OpenIdConfigurationShape,
} from "../../app/identity/id-tokens.ts";
import { JWKS_SECONDS } from "../../app/identity/token-keys.ts";
import type { RouteContext } from "../request/state.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Identity of jobs");

export const ID_TOKEN_ROUTES = [
  route({
    method: "POST",
    path: "/id-token",
    name: "issueIdToken",
    about:
      "Gives a job with the permission `idToken` an identity token. The caller's token is the request token of the job.",
    body: idTokenBody,
    answer: IdTokenShape,
    errors: ["conflict"],
    handle: (context, { caller, body }) => issueIdToken(context, caller, body),
  }),
];

/** Outside the prefix of the API, where verifiers look for them. */
export const WELL_KNOWN_ROUTES = [
  route({
    method: "GET",
    path: "/.well-known/openid-configuration",
    name: "readOpenIdConfiguration",
    about: "Says where the keys are that verify identity tokens of this installation.",
    answer: null,
    answerType: "application/json",
    errors: ["not_found"],
    isOpen: true,
    send: async (context, { ctx }) => sendPublic(ctx, OpenIdConfigurationShape.parse(openIdConfiguration(context))),
  }),
  route({
    method: "GET",
    path: "/.well-known/jwks.json",
    name: "readJsonWebKeySet",
    about: "Reads the keys that verify identity tokens of this installation.",
    answer: null,
    answerType: "application/json",
    errors: ["not_found"],
    isOpen: true,
    send: async (context, { ctx }) => sendPublic(ctx, JwksShape.parse(await jsonWebKeySet(context))),
  }),
];

/** Without the envelope of the API: the forms of these documents are standards. */
function sendPublic(ctx: RouteContext, document: object): void {
  ctx.set("Cache-Control", `public, max-age=${JWKS_SECONDS}`);
  ctx.type = "json";
  ctx.body = JSON.stringify(document);
}
