/** Identity tokens of jobs: OpenID Connect tokens by which clouds and other services trust a job without a stored secret. */
import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import type { JobRunId, PipelineId, ProjectId, TenantId } from "../../domain/ids.ts";
import type { Pairs } from "../../domain/pairs.ts";
import { cellName, type Scalar } from "../../domain/plan.ts";
import type { AppContext, WithStores } from "../context.ts";
import { findPlan, findRunHead } from "../lookups.ts";
import { projectFactsOf } from "../project-facts.ts";
import { fields, listOf, shape, time } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import { authoriseJob, type Caller } from "./access.ts";
import { currentKey, ID_TOKEN_MS, type KeyContext, publishedKeys } from "./token-keys.ts";

const KEYS_PATH = "/.well-known/jwks.json";
/** Clocks of others may be behind by this much. */
const SKEW_SECONDS = 30;

export const idTokenBody = z.strictObject({
  /** Default: the address of this installation. */
  audience: z.string().min(1).max(1_000).optional(),
});

export const IdTokenShape = shape("IdToken", () => ({ token: z.string(), expiresAt: time }));

/** OpenID Connect Discovery 1.0, as far as tokens without a login have any of it. */
export const OpenIdConfigurationShape = shape("OpenIdConfiguration", () => ({
  issuer: z.string(),
  jwks_uri: z.string(),
  response_types_supported: listOf(z.string()),
  subject_types_supported: listOf(z.string()),
  id_token_signing_alg_values_supported: listOf(z.string()),
  scopes_supported: listOf(z.string()),
  claims_supported: listOf(z.string()),
}));

/** RFC 7517. */
export const JwksShape = shape("JsonWebKeySet", () => ({
  keys: listOf(
    fields(() => ({
      kid: z.string(),
      kty: z.literal("RSA"),
      alg: z.literal("RS256"),
      use: z.literal("sig"),
      n: z.string(),
      e: z.string(),
    })),
  ),
}));

type TokenContext = KeyContext &
  Pick<AppContext, "publicUrl" | "log"> &
  WithStores<"aggregates" | "plans" | "pipelines" | "rights" | "documents">;

/**
 * A token for the job that asks. Throws `forbidden` for other callers and for a job without the permission, and `conflict`
 * when this installation has no address by which others find its keys.
 */
export async function issueIdToken(
  context: TokenContext,
  caller: Caller,
  { audience }: z.output<typeof idTokenBody>,
): Promise<z.infer<typeof IdTokenShape>> {
  const { runId, jobId } = authoriseJob(caller);
  const { publicUrl: issuer } = context;
  if (issuer === undefined) throw new MillraceError("conflict", NO_ISSUER);
  const [head, plan, located] = await Promise.all([
    findRunHead(context, runId),
    findPlan(context, runId),
    context.stores.aggregates.findJob(jobId),
  ]);
  const { index, matrix } = located!.actor.state as { readonly index: number; readonly matrix: Pairs<Scalar> };
  const { permissions } = (await context.stores.plans.loadJob(runId, index)) ?? {};
  if (permissions?.idToken !== true) {
    throw new MillraceError("forbidden", "this job has no permission for identity tokens: give it `idToken: true`");
  }
  const { tenantId, jobs } = await projectFactsOf(context, plan.projectId);
  if (!jobs.idToken)
    throw new MillraceError("forbidden", "the setting jobs.idToken lets no job here ask for identity tokens");
  const { origin } = head;
  const { ref, kind } = origin.trigger;
  const { environment } = permissions;
  const planned = plan.jobs[index]!;
  const now = Math.floor(context.clock.now() / 1_000);
  const expires = now + ID_TOKEN_MS / 1_000;
  const subject = { tenantId, projectId: plan.projectId, pipelineId: plan.pipelineId, ref, environment };
  const { kid, privateKey } = await currentKey(context);
  const token = await new SignJWT({
    tenant_id: tenantId,
    project_id: plan.projectId,
    pipeline_id: plan.pipelineId,
    ref,
    revision: origin.revisionId,
    trigger: kind,
    run_id: runId,
    run_attempt: origin.attempt,
    job_id: jobId satisfies JobRunId,
    job: matrix.length === 0 ? planned.name : cellName(planned.baseName, matrix),
    ...(environment === null ? {} : { environment }),
  })
    .setProtectedHeader({ alg: "RS256", kid, typ: "JWT" })
    .setIssuer(issuer)
    .setSubject(subjectOf(subject))
    .setAudience(audience ?? issuer)
    .setIssuedAt(now)
    .setNotBefore(now - SKEW_SECONDS)
    .setExpirationTime(expires)
    .setJti(randomUUID())
    .sign(privateKey);
  context.log.info({ runId, jobId, audience: audience ?? issuer }, "a job was given an identity token");
  return { token, expiresAt: rfc3339(expires * 1_000) };
}

/**
 * The claim `sub`, by which clouds decide. It never changes its form. What users choose stands last and has no colon, so
 * that no ref can look like an environment.
 */
export function subjectOf(of: {
  readonly tenantId: TenantId | null;
  readonly projectId: ProjectId;
  readonly pipelineId: PipelineId;
  readonly ref: string;
  readonly environment: string | null;
}): string {
  const { tenantId, projectId, pipelineId, ref, environment } = of;
  const place = environment === null ? `ref:${encoded(ref)}` : `environment:${encoded(environment)}`;
  return `tenant:${tenantId ?? ""}:project:${projectId}:pipeline:${pipelineId}:${place}`;
}

const encoded = (text: string): string => text.replaceAll("%", "%25").replaceAll(":", "%3A");

/** Throws `not_found` without an address of this installation. */
export function openIdConfiguration({
  publicUrl,
}: Pick<AppContext, "publicUrl">): z.infer<typeof OpenIdConfigurationShape> {
  const issuer = requireIssuer(publicUrl);
  return {
    issuer,
    jwks_uri: issuer + KEYS_PATH,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    scopes_supported: ["openid"],
    claims_supported: CLAIMS,
  };
}

const CLAIMS = (
  "iss sub aud exp nbf iat jti tenant_id project_id pipeline_id ref revision trigger run_id run_attempt job_id job " +
  "environment"
).split(" ");

/** Throws `not_found` without an address of this installation. */
export async function jsonWebKeySet(
  context: KeyContext & Pick<AppContext, "publicUrl">,
): Promise<z.infer<typeof JwksShape>> {
  requireIssuer(context.publicUrl);
  const keys = await publishedKeys(context);
  return { keys: keys.map((key) => ({ ...key, alg: "RS256", use: "sig" }) as const) };
}

const NO_ISSUER = "this installation issues no identity tokens: set MILLRACE_PUBLIC_URL on all edges and gateways";

function requireIssuer(publicUrl: string | undefined): string {
  if (publicUrl === undefined) throw new MillraceError("not_found", NO_ISSUER);
  return publicUrl;
}
