/** Routes of secrets: those of a project, and those of a pipeline. */
import {
  createSecret,
  createSecretBody,
  deleteSecret,
  getSecret,
  listSecrets,
  listSecretsQuery,
  replaceSecret,
  replaceSecretBody,
  type SecretOwner,
  SecretShape,
} from "../../app/catalogue/secrets.ts";
import type { z } from "zod";
import type { AppContext } from "../../app/context.ts";
import { cursorPageOf } from "../../app/shapes.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Secrets");

export const SECRET_ROUTES = [
  ...routesOf("/projects/:projectId/secrets", "ProjectSecret", "a project"),
  ...routesOf("/pipelines/:pipelineId/secrets", "PipelineSecret", "a pipeline"),
];

function routesOf(
  path: "/projects/:projectId/secrets" | "/pipelines/:pipelineId/secrets",
  what: string,
  whose: string,
) {
  /** Each value has another version. */
  const tagged = ({ version, createdAt }: z.infer<typeof SecretShape>) => ({ version, createdAt });
  return [
    route({
      method: "POST",
      path,
      name: `create${what}`,
      about: `Creates a secret of ${whose}. No answer holds its value.`,
      body: createSecretBody,
      answer: SecretShape,
      errors: ["not_found", "already_exists", "request_id_reused", "conflict"],
      creates: true,
      handle: (context, { caller, params, body, requestId }) =>
        createSecret(context, caller, { ...body, requestId, owner: params }),
    }),
    route({
      method: "GET",
      path,
      name: `list${what}s`,
      about: `Lists the secrets of ${whose} in the order of their names.`,
      query: listSecretsQuery,
      answer: cursorPageOf(SecretShape),
      errors: ["not_found"],
      handle: (context, { caller, params, query }) => listSecrets(context, caller, { ...query, owner: params }),
    }),
    route({
      method: "GET",
      path: `${path}/:name`,
      name: `get${what}`,
      about: `Reads a secret of ${whose}, without its value.`,
      answer: SecretShape,
      errors: ["not_found"],
      tagged,
      handle: (context, { caller, params }) => getSecret(context, caller, named(params)),
    }),
    route({
      method: "PUT",
      path: `${path}/:name`,
      name: `replace${what}`,
      about: `Gives a secret of ${whose} a new value.`,
      body: replaceSecretBody,
      answer: SecretShape,
      errors: ["not_found"],
      tagged,
      changes: { tagged },
      handle: (context, { caller, params, body, match }) =>
        replaceSecret(context, caller, { ...body, ...named(params), match }),
    }),
    route({
      method: "DELETE",
      path: `${path}/:name`,
      name: `delete${what}`,
      about: `Deletes a secret of ${whose}.`,
      answer: null,
      errors: ["not_found"],
      handle: (context, { caller, params }) => deleteSecret(context, caller, named(params)),
    }),
  ];
}

function named({ name, ...owner }: SecretOwner & { readonly name: string }) {
  return { name, owner: owner as SecretOwner };
}
