/**
 * The tokens with which a running job proves itself to this installation: one asks for identity tokens, the other calls
 * the API. They are JWTs (HS256), made for each dispatch and stored nowhere. Both end with the job.
 */
import { errors, jwtVerify, SignJWT } from "jose";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type JobRunId, type RunId, type UserId } from "../../domain/ids.ts";
import type { Pairs } from "../../domain/pairs.ts";
import { JOB_API_WORDS, type JobPermissions } from "../../domain/plan.ts";
import { NO_RIGHTS, type Role } from "../../domain/roles.ts";
import type { RunOrigin } from "../../stores/ports/aggregates.ts";
import type { AppContext, WithStores } from "../context.ts";
import type { JobCaller, UserCaller } from "./callers.ts";

const ISSUER = "millrace-job";
/** A bound besides the end of the job, for a store that lost the job. */
const LONGEST_SECONDS = 30 * 86_400;
/** What a token is for; a token for one use is worth nothing for the other. */
const USES = ["id-token", "api"] as const;
type Use = (typeof USES)[number];
type ApiWord = (typeof JOB_API_WORDS)[number];

/** The role that a word stands for in the project of the job. The word is the width of the token as well. */
const ROLES: Readonly<Record<ApiWord, Role>> = { read: "viewer", trigger: "operator", write: "maintainer" };
/** A job of these states may be at work. */
const LIVE: readonly string[] = ["running", "cancelling"];

type SigningContext = Pick<AppContext, "clock" | "signingKey">;

export interface JobAddress {
  readonly runId: RunId;
  readonly jobId: JobRunId;
}

/**
 * The variables that give the steps of a job its permissions, and the tokens among them, which belong into no log.
 * `publicUrl`: where the steps reach the API. A run that people from outside can make by an event gets none: nothing here
 * knows yet whose event it was.
 */
export async function jobEnvironment(
  context: SigningContext,
  job: JobAddress,
  { idToken, api }: JobPermissions,
  { trigger }: Pick<RunOrigin, "trigger">,
  publicUrl: string,
): Promise<{ readonly env: Pairs<string>; readonly secrets: readonly string[] }> {
  const env: [string, string][] = [];
  const secrets: string[] = [];
  if (trigger.kind === "event") return { env, secrets };
  if (idToken) {
    const token = await signJobToken(context, job, "id-token", null);
    env.push(["MILLRACE_ID_TOKEN_REQUEST_URL", `${publicUrl}/api/v1/id-token`]);
    env.push(["MILLRACE_ID_TOKEN_REQUEST_TOKEN", token]);
    secrets.push(token);
  }
  if (api !== null && api !== "none") {
    const token = await signJobToken(context, job, "api", api);
    env.push(["MILLRACE_API_URL", `${publicUrl}/api/v1`], ["MILLRACE_TOKEN", token]);
    secrets.push(token);
  }
  return { env, secrets };
}

export async function signJobToken(
  { clock, signingKey }: SigningContext,
  { runId, jobId }: JobAddress,
  use: Use,
  api: ApiWord | null,
): Promise<string> {
  const now = Math.floor(clock.now() / 1_000);
  return new SignJWT({ run: runId, ...(api === null ? {} : { api }) })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(ISSUER)
    .setSubject(jobId)
    .setAudience(use)
    .setIssuedAt(now)
    .setExpirationTime(now + LONGEST_SECONDS)
    .sign(signingKey);
}

/** What a token of a job says; undefined for every other token. */
interface JobClaims extends JobAddress {
  readonly use: Use;
  readonly api: ApiWord | undefined;
}

async function readJobToken({ clock, signingKey }: SigningContext, token: string): Promise<JobClaims | undefined> {
  try {
    const { payload } = await jwtVerify(token, signingKey, {
      algorithms: ["HS256"],
      issuer: ISSUER,
      requiredClaims: ["sub", "exp", "aud", "run"],
      currentDate: new Date(clock.now()),
    });
    const use = USES.find((one) => one === payload.aud);
    if (use === undefined) return undefined;
    const api = JOB_API_WORDS.find((word) => word === payload["api"]);
    return { runId: asId<RunId>(String(payload["run"])), jobId: asId<JobRunId>(payload.sub!), use, api };
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/**
 * The caller that a token of a job proves; undefined for every other token. Throws `unauthenticated` when the job is not at
 * work. The job is read on each call.
 */
export async function jobCaller(
  context: SigningContext & WithStores<"aggregates">,
  bearer: string,
): Promise<JobCaller | UserCaller | undefined> {
  const claims = await readJobToken(context, bearer);
  if (claims === undefined) return undefined;
  const { runId, jobId, use, api } = claims;
  const { aggregates } = context.stores;
  const [job, head] = await Promise.all([aggregates.findJob(jobId), aggregates.loadHead(runId)]);
  const isLive =
    job?.runId === runId &&
    LIVE.includes((job.actor.state as { readonly state?: string }).state ?? "") &&
    head?.final === false;
  if (!isLive) throw new MillraceError("unauthenticated", "the job of this token has ended");
  if (use === "id-token") return { kind: "job", runId, jobId };
  if (api === undefined) return undefined;
  const { projectId } = head.summary;
  return {
    kind: "user",
    userId: asId<UserId>(jobId),
    name: jobId,
    role: null,
    rights: { ...NO_RIGHTS, projects: new Map([[projectId, ROLES[api]]]) },
    scopes: [api],
    isJob: true,
  };
}
