/** Secrets of projects and pipelines: created, replaced, listed and deleted. No answer holds the value of a secret. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { type RecordedChange, recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { PipelineId, ProjectId } from "../../domain/ids.ts";
import { VARIABLE_NAME } from "../../domain/names.ts";
import { type SealedSecret, type SecretKey, secretIdOf, type SecretScope } from "../../stores/ports/secrets.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { createOnce, standInFor, type WithRequestId } from "../request-ids.ts";
import type { Caller, UserCaller } from "../identity/access.ts";
import type { CatalogueContext } from "./context.ts";
import { placedListFields, placedListView, type PlacedListView } from "../lists.ts";
import { id, shape, time, wholeNumber } from "../shapes.ts";
import { reachPipeline, reachProject } from "../reaching.ts";
import { rfc3339 } from "../times.ts";

/** Greatest size of a value, in UTF-8. */
const bytes = 65_536;
/** Least number of characters of a trimmed value. A shorter one would be masked in log lines that contain it by chance. */
const leastChars = 4;

// No message may contain the value.
const value = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= bytes, `must have at most ${bytes} bytes`)
  .refine(
    (text) => Array.from(text.trim()).length >= leastChars,
    `must have at least ${leastChars} characters besides white space at its ends: what is shorter cannot be masked`,
  )
  .refine((text) => !text.includes("\0"), "must have no NUL character: no step could be given it")
  .refine((text) => Buffer.from(text).toString() === text, "must be well-formed Unicode");

export const createSecretBody = z.strictObject({
  name: z
    .string()
    .regex(VARIABLE_NAME, "must begin with a letter or `_`, followed by at most 127 letters, digits or `_`"),
  value,
});
export const replaceSecretBody = z.strictObject({ value });
export const listSecretsQuery = z.strictObject(placedListFields);

/**
 * The owner of secrets: a project, for all of its pipelines, or one pipeline, whose secrets win over those of its
 * project.
 */
export type SecretOwner = { readonly projectId: ProjectId } | { readonly pipelineId: PipelineId };

export const SecretShape = shape("Secret", () => ({
  name: z.string(),
  scope: z.enum(["project", "pipeline"]),
  projectId: id<ProjectId>(),
  pipelineId: id<PipelineId>().nullable(),
  /** Counts the values that the secret has had, from 1. */
  version: wholeNumber,
  createdAt: time,
  createdBy: z.string(),
  updatedAt: time,
  updatedBy: z.string(),
}));

interface NamedSecret {
  readonly owner: SecretOwner;
  readonly name: string;
}

type SecretView = z.infer<typeof SecretShape>;

/** Throws `not_found` for an unknown owner, and `already_exists` when the owner has a secret of that name. */
export async function createSecret(
  context: CatalogueContext,
  caller: Caller,
  { requestId, ...input }: z.output<typeof createSecretBody> & WithRequestId & { readonly owner: SecretOwner },
): Promise<SecretView> {
  const { user, key } = await reachSecret(context, caller, input);
  return createOnce(context, {
    caller: user,
    scope: `createSecret/${secretIdOf(key)}`,
    requestId,
    body: { value: standInFor(context, input.value) },
    // A secret has no id of its own: a fresh one tells a repeat from the first call.
    freshId: () => randomUUID(),
    find: async () => {
      const found = await context.stores.secrets.get(key);
      return found?.createdBy === user.name ? secretView(found) : undefined;
    },
    create: () => makeSecret(context, user, key, input.value),
  });
}

async function makeSecret(
  context: CatalogueContext,
  user: UserCaller,
  key: SecretKey,
  text: string,
): Promise<SecretView> {
  const isThere = () =>
    new MillraceError("already_exists", `there is a secret ${key.name} already: PUT gives it a new value`);
  const created = await context.secrets.create(key, text, user.name, (write) =>
    recorded(user, { ...objectOf(key), after: { version: 1 } }, async () => {
      const outcome = await write();
      if (outcome === "exists") throw isThere();
      return outcome;
    }),
  );
  if (created === "exists") throw isThere();
  return logChange(context, user, created, "a secret was created");
}

/** Steps that run keep the old value. Throws `not_found`. A repeat makes a further version. */
export async function replaceSecret(
  context: CatalogueContext,
  caller: Caller,
  input: z.output<typeof replaceSecretBody> & NamedSecret & WithPrecondition<SecretView>,
): Promise<SecretView> {
  return changeUnmoved(() => tryToReplace(context, caller, input));
}

async function tryToReplace(
  context: CatalogueContext,
  caller: Caller,
  { match, ...input }: Parameters<typeof replaceSecret>[2],
): Promise<SecretView | typeof MOVED> {
  const { user, key } = await reachSecret(context, caller, input);
  const seen = match && ((await context.stores.secrets.get(key)) ?? missing(key));
  if (seen !== undefined) match?.(secretView(seen));
  // The version is known when it is stored: the entry names the object only.
  const around = (write: () => Promise<SealedSecret | undefined>) =>
    recorded(user, objectOf(key), async () => (await write()) ?? false);
  const replaced = await context.secrets.replace(key, input.value, user.name, around, seen?.version);
  if (replaced === false) return seen === undefined ? missing(key) : MOVED;
  return logChange(context, user, replaced, "a secret was given a new value");
}

/** A secret without its value. Throws `not_found`. */
export async function getSecret(context: CatalogueContext, caller: Caller, input: NamedSecret): Promise<SecretView> {
  const { key } = await reachSecret(context, caller, input);
  return secretView((await context.stores.secrets.get(key)) ?? missing(key));
}

/** Secrets in the order of their names. The list of a pipeline leaves out the secrets of its project. */
export async function listSecrets(
  context: CatalogueContext,
  caller: Caller,
  input: z.output<typeof listSecretsQuery> & { readonly owner: SecretOwner },
): Promise<PlacedListView<SecretView>> {
  const { scope } = await reachOwner(context, caller, input.owner);
  const found = await context.stores.secrets.list(scope, input);
  return placedListView(found, { ...input, sort: "name" }, ({ name }) => ({ at: name, id: name }), secretView);
}

/** Steps that run keep the value; a step that is dispatched later and reads the secret fails. Throws `not_found`. */
export async function deleteSecret(context: CatalogueContext, caller: Caller, input: NamedSecret): Promise<void> {
  const { user, key } = await reachSecret(context, caller, input);
  if (!(await recorded(user, objectOf(key), () => context.stores.secrets.delete(key)))) throw noSecret(key);
  context.log.info({ ...key, by: user.name }, "a secret was deleted");
}

async function reachSecret(
  context: CatalogueContext,
  caller: Caller,
  { owner, name }: { readonly owner: SecretOwner; readonly name: string },
): Promise<{ readonly user: UserCaller; readonly key: SecretKey }> {
  const { user, scope } = await reachOwner(context, caller, owner);
  return { user, key: { ...scope, name } };
}

async function reachOwner(
  context: CatalogueContext,
  caller: Caller,
  owner: SecretOwner,
): Promise<{ readonly user: UserCaller; readonly scope: SecretScope }> {
  if ("pipelineId" in owner) {
    const { user, found } = await reachPipeline(context, caller, "manageSecrets", owner.pipelineId);
    return { user, scope: { projectId: found.projectId, pipelineId: found.pipelineId } };
  }
  const { projectId } = owner;
  const { user } = await reachProject(context, caller, "manageSecrets", projectId);
  return { user, scope: { projectId, pipelineId: null } };
}

function objectOf({ projectId, pipelineId, name }: SecretKey): RecordedChange {
  return { kind: "secret", id: `${pipelineId ?? projectId}/${name}`, name };
}

function logChange(context: CatalogueContext, user: UserCaller, secret: SealedSecret, message: string): SecretView {
  const { projectId, pipelineId, name, version } = secret;
  context.log.info({ projectId, pipelineId, name, version, by: user.name }, message);
  return secretView(secret);
}

function secretView({ keyId: _k, sealed: _s, createdAt, updatedAt, ...shown }: SealedSecret): SecretView {
  return {
    ...shown,
    scope: shown.pipelineId === null ? "project" : "pipeline",
    createdAt: rfc3339(createdAt),
    updatedAt: rfc3339(updatedAt),
  };
}

function missing(key: SecretKey): never {
  throw noSecret(key);
}

function noSecret({ name, pipelineId, projectId }: SecretKey): MillraceError {
  const whose = pipelineId === null ? `project ${projectId}` : `pipeline ${pipelineId}`;
  return new MillraceError("not_found", `${whose} has no secret ${JSON.stringify(name)}`);
}
