/** Inbound hooks of projects: made, read, changed and deleted. A hook names its secret, which is one of the project. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { HOOK_KINDS, HOOK_PROOFS, type HookKind, type HookProof, PROOFS_OF_KIND } from "../../hook-events/words.ts";
import { type HookId, newId, type ProjectId } from "../../domain/ids.ts";
import { VARIABLE_NAME } from "../../domain/names.ts";
import type { Hook } from "../../stores/hooks/hook-store.ts";
import { givenName } from "../given-names.ts";
import type { ActingUser, Caller } from "../identity/access.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { reachProject } from "../reaching.ts";
import { createOnce, type WithRequestId } from "../request-ids.ts";
import { id, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import type { HookContext } from "./context.ts";
import { dropDeliveries } from "./drop-deliveries.ts";

const MAX_HOOKS = 50;
const PER_MINUTE = 600;
const MAX_PER_MINUTE = 20_000;

const name = givenName(100);
const secret = z
  .string()
  .regex(VARIABLE_NAME, "must begin with a letter or `_`, followed by at most 127 letters, digits or `_`");
const perMinute = z.number().int().min(1).max(MAX_PER_MINUTE);

export const createHookBody = z.strictObject({
  name,
  kind: z.enum(HOOK_KINDS),
  proof: z.enum(HOOK_PROOFS).optional(),
  secret: secret.optional(),
  perMinute: perMinute.default(PER_MINUTE),
});
export const changeHookBody = z
  .strictObject({
    name: name.optional(),
    proof: z.enum(HOOK_PROOFS).optional(),
    secret: secret.optional(),
    perMinute: perMinute.optional(),
    enabled: z.boolean().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, "must name at least one field");

export const HookShape = shape("Hook", () => ({
  hookId: id<HookId>(),
  projectId: id<ProjectId>(),
  name: z.string(),
  kind: z.enum(HOOK_KINDS),
  /** How a sender proves that a delivery is from it. */
  proof: z.enum(HOOK_PROOFS),
  /** Name of the project's secret; null with the proof `none`. */
  secret: z.string().nullable(),
  enabled: z.boolean(),
  /** Deliveries that it takes in a minute. */
  perMinute: wholeNumber,
  /** The path that senders call. */
  path: z.string(),
  createdAt: time,
  createdBy: z.string(),
  updatedAt: time,
}));
export type HookView = z.infer<typeof HookShape>;

export interface OfHook {
  readonly projectId: ProjectId;
  readonly hookId: HookId;
}

/** A change of a hook, which may demand what the hook is before it. */
type Change = OfHook & WithPrecondition<HookView>;

/** In the order of their creation. Throws `not_found` for an unknown project. */
export async function listHooks(
  context: HookContext,
  caller: Caller,
  { projectId }: { readonly projectId: ProjectId },
): Promise<{ readonly list: readonly HookView[]; readonly total: number }> {
  await reachProject(context, caller, "manageHooks", projectId);
  const list = (await context.stores.hooks.list(projectId)).map(hookView);
  return { list, total: list.length };
}

/** Throws `not_found`. */
export async function getHook(context: HookContext, caller: Caller, of: OfHook): Promise<HookView> {
  return hookView((await reachHook(context, caller, of)).found);
}

/**
 * Throws `not_found` for an unknown project, `already_exists` for a name that is taken, `malformed_request` for a proof that the
 * kind cannot give and for a secret that the project does not have, and `conflict` when the project has as many hooks as it may.
 */
export async function createHook(
  context: HookContext,
  caller: Caller,
  {
    projectId,
    requestId,
    ...body
  }: { readonly projectId: ProjectId } & WithRequestId & z.output<typeof createHookBody>,
): Promise<HookView> {
  const { user } = await reachProject(context, caller, "manageHooks", projectId);
  const { hooks } = context.stores;
  return createOnce<HookId, HookView>(context, {
    caller: user,
    scope: `hook/${projectId}`,
    requestId,
    body,
    freshId: () => newId("hook"),
    async find(hookId) {
      const found = await hooks.find(hookId);
      return found && hookView(found);
    },
    async create(hookId) {
      const now = context.clock.now();
      const proof = body.proof ?? PROOFS_OF_KIND[body.kind][0]!;
      await requireProof(context, projectId, { kind: body.kind, proof, secret: body.secret ?? null });
      if ((await hooks.list(projectId)).length >= MAX_HOOKS) {
        throw new MillraceError("conflict", `a project may have ${MAX_HOOKS} hooks: delete one first`);
      }
      const hook: Hook = {
        hookId,
        projectId,
        name: body.name,
        kind: body.kind,
        proof,
        secret: body.secret ?? null,
        enabled: true,
        perMinute: body.perMinute,
        createdAt: now,
        createdBy: user.name,
        updatedAt: now,
        version: 1,
      };
      const change = { kind: "hook", id: hookId, name: hook.name, after: recordable(hook) } as const;
      await recorded(user, change, async () => {
        if ((await hooks.create(hook)) === "nameTaken") throw nameTaken(hook.name);
        return true;
      });
      context.log.info({ projectId, hookId, by: user.name, userId: user.userId }, "a hook was created");
      return hookView(hook);
    },
  });
}

/** Changes the fields that are given. Throws `not_found`, and as {@link createHook} does. */
export function changeHook(
  context: HookContext,
  caller: Caller,
  input: Change & z.output<typeof changeHookBody>,
): Promise<HookView> {
  return changeUnmoved(() => tryToChange(context, caller, input));
}

async function tryToChange(
  context: HookContext,
  caller: Caller,
  { projectId, hookId, match, ...body }: Parameters<typeof changeHook>[2],
): Promise<HookView | typeof MOVED> {
  const { user, found } = await reachHook(context, caller, { projectId, hookId });
  match?.(hookView(found));
  const proof = body.proof ?? found.proof;
  const hook: Hook = {
    ...found,
    name: body.name ?? found.name,
    proof,
    secret: proof === "none" ? (body.secret ?? null) : (body.secret ?? found.secret),
    perMinute: body.perMinute ?? found.perMinute,
    enabled: body.enabled ?? found.enabled,
    updatedAt: context.clock.now(),
    version: found.version + 1,
  };
  if (hook.proof !== found.proof || hook.secret !== found.secret) await requireProof(context, projectId, hook);
  const [before, after] = [recordable(found), recordable(hook)];
  let outcome: "saved" | "moved" = "moved";
  await recorded(user, { kind: "hook", id: hookId, name: hook.name, before, after }, async () => {
    const saved = await context.stores.hooks.save(hook);
    if (saved === "nameTaken") throw nameTaken(hook.name);
    outcome = saved;
    return saved === "saved";
  });
  if ((outcome as string) === "moved") return MOVED;
  context.log.info({ projectId, hookId, by: user.name, userId: user.userId }, "a hook was changed");
  return hookView(hook);
}

/** Deletes the hook with its deliveries. Runs that these have started stay, and cannot be run again. Throws `not_found`. */
export async function deleteHook(
  context: HookContext,
  caller: Caller,
  { projectId, hookId, match }: Change,
): Promise<void> {
  const { user, found } = await reachHook(context, caller, { projectId, hookId });
  match?.(hookView(found));
  const change = { kind: "hook", id: hookId, name: found.name, before: recordable(found) } as const;
  await recorded(user, change, () => context.stores.hooks.delete(hookId));
  context.log.info({ projectId, hookId, by: user.name, userId: user.userId }, "a hook was deleted");
  // What is left after a crash has no hook any more, and goes with the deliveries whose time is over.
  while (await dropDeliveries(context, { hookId }));
}

/** A hook, and the caller who may read and change it. Throws `not_found`. */
export async function reachHook(
  context: HookContext,
  caller: Caller,
  { projectId, hookId }: OfHook,
): Promise<{ readonly user: ActingUser; readonly found: Hook }> {
  const { user } = await reachProject(context, caller, "manageHooks", projectId);
  const found = await context.stores.hooks.find(hookId);
  if (found?.projectId === projectId) return { user, found };
  throw new MillraceError("not_found", `the project has no hook ${JSON.stringify(hookId)}`);
}

async function requireProof(
  { stores }: HookContext,
  projectId: ProjectId,
  { kind, proof, secret: secretName }: { kind: HookKind; proof: HookProof; secret: string | null },
): Promise<void> {
  const proofs = PROOFS_OF_KIND[kind];
  if (proof !== "none" && !proofs.includes(proof)) {
    const words = proofs.map((one) => `\`${one}\``).join(", ");
    throw problem("/proof", `a hook of the kind ${kind} takes ${words}, or \`none\` for deliveries without proof`);
  }
  if (proof === "none") {
    if (secretName !== null) throw problem("/secret", "a hook without proof has no secret: leave it out");
    return;
  }
  if (secretName === null) {
    throw problem(
      "/secret",
      "must name a secret of the project with which the sender signs; or choose the proof `none`",
    );
  }
  if ((await stores.secrets.get({ projectId, pipelineId: null, name: secretName })) !== undefined) return;
  throw problem("/secret", `the project has no secret ${secretName}: create it first`);
}

function problem(pointer: string, message: string): MillraceError {
  const problems = [{ code: "invalid", pointer, message }];
  return new MillraceError("malformed_request", `the body has problems: ${pointer} ${message}`, { problems });
}

function nameTaken(taken: string): MillraceError {
  return new MillraceError("already_exists", `the project has a hook ${JSON.stringify(taken)} already`);
}

/** Names the secret as `secretName`, which is no secret. */
function recordable({ name: called, kind, proof, secret: secretName, enabled, perMinute: most }: Hook) {
  return { name: called, sender: kind, proof, secretName, enabled, perMinute: most };
}

function hookView(hook: Hook): HookView {
  const { hookId, projectId, name: called, kind, proof, secret: secretName, enabled, perMinute: most } = hook;
  return {
    hookId,
    projectId,
    name: called,
    kind,
    proof,
    secret: secretName,
    enabled,
    perMinute: most,
    path: `/api/v1/hooks/${hookId}`,
    createdAt: rfc3339(hook.createdAt),
    createdBy: hook.createdBy,
    updatedAt: rfc3339(hook.updatedAt),
  };
}
