/** The webhook at the host of a pipeline's repository: made, checked and repaired. */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import type { HookId, PipelineId, ProjectId } from "../../domain/ids.ts";
import type { HookKind } from "../../hook-events/words.ts";
import { type HostHook, type Provider, type ProviderName, PROVIDERS } from "../../providers/provider.ts";
import type { Hook } from "../../stores/hooks/hook-store.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { createSecret } from "../catalogue/secrets.ts";
import { malformed, withGit } from "../git/git-problems.ts";
import { openProviderOf, providerNameOf } from "../git/provider-access.ts";
import { isInGit } from "../git/repository.ts";
import { createHook } from "../hooks/hooks.ts";
import type { ActingUser, Caller } from "../identity/access.ts";
import { reachPipeline } from "../reaching.ts";
import { fields, id, listOf, shape, wholeNumber } from "../shapes.ts";
import { withTrailOfItsOwn } from "../identity/trails.ts";
import { InTurn } from "../../domain/work/in-turn.ts";
import type { HostHookContext } from "./context.ts";
import { HOST_HOOK_PROBLEMS, hooksFor, problemsOf } from "./judge-hook.ts";

const MAX_WAITING = 50;
const SECRET_BYTES = 32;

export const HostHookShape = shape("HostHook", () => ({
  pipelineId: id<PipelineId>(),
  provider: z.enum(PROVIDERS),
  /** The hook of the project; null when the project has none for this kind of host. */
  hookId: id<HookId>().nullable(),
  /** Where the host must send; null without a hook. */
  address: z.string().nullable(),
  /** `made` and `repaired` only by the call that connects. */
  outcome: z.enum(["made", "repaired", "unchanged"]),
  /** What the host has for the address; null for none. */
  webhook: fields(() => ({
    id: z.string(),
    url: z.string(),
    active: z.boolean(),
    /** The status with which its last delivery was answered; null where the host does not tell. */
    lastStatus: wholeNumber.nullable(),
  })).nullable(),
  /** Empty when nothing is wrong. */
  problems: listOf(fields(() => ({ code: z.enum(HOST_HOOK_PROBLEMS), message: z.string() }))),
}));

export type HostHookView = z.infer<typeof HostHookShape>;

/** Calls about one project's hooks are performed in turn on an edge. */
const connections = new InTurn<ProjectId>(MAX_WAITING);

interface Place {
  readonly pipeline: Pipeline;
  readonly user: ActingUser;
  readonly provider: Provider;
  readonly name: ProviderName;
  readonly publicUrl: string;
}

/**
 * Tells what is wrong with the webhook at the host, and changes nothing. Throws `not_found`, `conflict` when the address of this
 * installation is not known, `malformed_request`, and for the host `git_refused` and `unavailable`.
 */
export async function checkHostHook(
  context: HostHookContext,
  caller: Caller,
  input: { readonly pipelineId: PipelineId },
): Promise<HostHookView> {
  const place = await open(context, caller, input.pipelineId);
  const hook = await findHook(context, place);
  if (hook === undefined) return viewOf(place, null, [], "unchanged");
  const address = addressOf(place, hook);
  return viewOf(place, hook, hooksFor(await withGit(() => place.provider.hooks()), address), "unchanged");
}

/**
 * Makes the hook of the project with its secret, and the webhook at the host, as far as they are missing, and repairs what the
 * check finds. A repeat changes nothing. Throws as {@link checkHostHook} does, and as `createSecret` and `createHook` do.
 */
export async function connectHostHook(
  context: HostHookContext,
  caller: Caller,
  input: { readonly pipelineId: PipelineId },
): Promise<HostHookView> {
  const place = await open(context, caller, input.pipelineId);
  return connections.run(place.pipeline.projectId, async () => {
    const hook = (await findHook(context, place)) ?? (await makeHook(context, caller, place));
    if (hook.kind === "gitlab" && hook.proof === "standard") {
      throw conflict(
        `hook ${hook.name} has the proof \`standard\`, whose key GitLab makes by itself: give the hook the proof \`token\`, or make the webhook by hand`,
      );
    }
    const wanted = { url: addressOf(place, hook), secret: await secretOf(context, hook) };
    const { provider, user } = place;
    const found = hooksFor(await withGit(() => provider.hooks()), wanted.url);
    const problems = problemsOf(found, wanted.url);
    if (problems.length === 0) {
      user.trail?.changedNothing();
      return viewOf(place, hook, found, "unchanged");
    }
    const [kept] = found;
    await withGit(() => (kept === undefined ? provider.createHook(wanted) : provider.updateHook(kept.id, wanted)));
    return viewOf(place, hook, await keepOne(provider, wanted.url), kept === undefined ? "made" : "repaired");
  });
}

/** Another edge may have made one at the same moment: both keep the one that the host lists first. */
async function keepOne(provider: Provider, address: string): Promise<readonly HostHook[]> {
  const [kept, ...others] = hooksFor(await withGit(() => provider.hooks()), address);
  for (const { id: other } of others) await withGit(() => provider.deleteHook(other));
  return kept === undefined ? [] : [kept];
}

async function open(context: HostHookContext, caller: Caller, pipelineId: PipelineId): Promise<Place> {
  const { user, found: pipeline } = await reachPipeline(context, caller, "manageHooks", pipelineId);
  if (!isInGit(pipeline)) throw malformed("/repoUrl", "is empty: the definition of this pipeline is inline");
  const { publicUrl } = context;
  if (publicUrl === undefined) {
    throw conflict(
      "the host cannot be told where to send: set MILLRACE_PUBLIC_URL on all edges to the address that the host reaches",
    );
  }
  const name = providerNameOf(pipeline);
  return { pipeline, user, name, publicUrl, provider: await openProviderOf(context, pipeline) };
}

/** The oldest hook of the project for this kind of host that demands a proof. */
async function findHook({ stores }: HostHookContext, { pipeline, name }: Place): Promise<Hook | undefined> {
  const all = await stores.hooks.list(pipeline.projectId);
  return all.find(({ kind, proof, enabled }) => kind === (name as HookKind) && enabled && proof !== "none");
}

async function makeHook(context: HostHookContext, caller: Caller, place: Place): Promise<Hook> {
  const { name: kind } = place;
  const { projectId } = place.pipeline;
  const secret = `${kind.toUpperCase()}_WEBHOOK_SECRET`;
  if ((await context.stores.secrets.get({ projectId, pipelineId: null, name: secret })) === undefined) {
    const value = randomBytes(SECRET_BYTES).toString("hex");
    await unlessThere(createSecret(context, withTrailOfItsOwn(caller), { owner: { projectId }, name: secret, value }));
  }
  // GitLab makes the key of a standard webhook by itself.
  const proof = kind === "gitlab" ? ({ proof: "token" } as const) : {};
  const body = { name: kind, kind, secret, perMinute: 600, ...proof };
  await unlessThere(createHook(context, withTrailOfItsOwn(caller), { projectId, ...body }));
  const made = await findHook(context, place);
  if (made !== undefined) return made;
  throw conflict(`the project has a hook ${kind} that is disabled or takes no proof: enable it, or rename it`);
}

/** Another call may make the same at the same moment. */
async function unlessThere(making: Promise<unknown>): Promise<void> {
  await making.catch((error: unknown) => {
    if (!(error instanceof MillraceError) || error.reason !== "already_exists") throw error;
  });
}

async function secretOf({ secrets }: HostHookContext, { projectId, secret, name }: Hook): Promise<string> {
  const value = secret === null ? undefined : await secrets.readOne({ projectId, pipelineId: null, name: secret });
  if (value !== undefined) return value;
  throw conflict(`the secret ${String(secret)} of hook ${name} is not set: create it in the project`);
}

function addressOf({ publicUrl }: Place, { hookId }: Hook): string {
  return `${publicUrl.replace(/\/+$/, "")}/api/v1/hooks/${hookId}`;
}

function viewOf(
  place: Place,
  hook: Hook | null,
  found: readonly HostHook[],
  outcome: HostHookView["outcome"],
): HostHookView {
  const address = hook && addressOf(place, hook);
  const [webhook] = found;
  // What the last delivery of a webhook was answered before the repair says nothing about the repaired one.
  const judged = address === null ? problemsOf([], "") : problemsOf(found, address);
  return {
    pipelineId: place.pipeline.pipelineId,
    provider: place.name,
    hookId: hook?.hookId ?? null,
    address,
    outcome,
    webhook:
      webhook === undefined
        ? null
        : { id: webhook.id, url: webhook.url, active: webhook.isActive, lastStatus: webhook.lastStatus },
    problems: judged.filter(({ code }) => outcome === "unchanged" || code !== "failing"),
  };
}

function conflict(message: string): MillraceError {
  return new MillraceError("conflict", message);
}
