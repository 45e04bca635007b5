/** What is in the way of a token of a GitHub App, told from the answer of the host. Pure. */
import { GitFault, type GitFaultKind } from "../git/git-fault.ts";
import type { ReceivedAnswer } from "../outgoing/requests.ts";
import { isFailure, isRateLimit, retryAfterOf, shownAnswer, USUAL_RETRY_SECONDS, wordsOf } from "./answers.ts";
import type { GitHubApp } from "./github-app.ts";
import type { ProviderPlace } from "./place.ts";

export interface RefusedToken {
  readonly app: GitHubApp;
  readonly place: ProviderPlace;
  readonly isOfApi?: boolean;
  readonly answer: ReceivedAnswer;
  /** What must not be shown. */
  readonly proof: string;
  /** The permissions that were asked for. */
  readonly needed: readonly string[];
  /** By how much the clock of this node is ahead of that of the host; NaN when the host does not tell. */
  readonly aheadMs: number;
}

type Told = readonly [kind: GitFaultKind, says: string];

/** A proof is dated a minute back, and GitHub allows little more. */
const MAX_SKEW_MS = 60_000;

export function appFaultOf(refused: RefusedToken): GitFault {
  const { app, place, answer, proof, isOfApi = false } = refused;
  const { appId, installationId } = app;
  const [kind, says] = told(refused);
  const retryAfterSeconds = retryAfterOf(answer) ?? (kind === "tooMany" ? USUAL_RETRY_SECONDS : null);
  const of = `of the GitHub App ${appId}, installation ${installationId}`;
  const message = `${new URL(place.api).host} gives no token ${of}: ${shownAnswer(answer, [proof])}: ${says}`;
  return new GitFault(kind, message, { isOfApi, retryAfterSeconds });
}

function told({ place, answer, needed, aheadMs }: RefusedToken): Told {
  const { status } = answer;
  const words = wordsOf(answer.text, []);
  if (isRateLimit(answer)) return ["tooMany", "wait, and try again"];
  if (isFailure(answer)) return ["unreachable", "try again later"];
  if (status >= 300 && status < 400) return ["redirected", "correct `repoUrl`"];
  switch (status) {
    case 201:
      return ["cutOff", "the answer is not what its API says: repeat the call"];
    case 401:
      return refusedProof(words, aheadMs);
    case 403:
      return /suspended/i.test(words)
        ? ["appSuspended", "lift the suspension on the page of the installation"]
        : ["authentication", "the host forbids it to this node, or to the App"];
    case 404:
      return ["appNotInstalled", "correct `installationId` or `appId` of the secret, or install the App again"];
    case 422:
      return /permission/i.test(words)
        ? ["appPermission", `give the App ${needed.join(" and ")}, and accept that on the page of the installation`]
        : ["appNotInstalled", `let the installation reach the repository ${place.repository.join("/")}`];
    default:
      return ["refused", "the host refuses it"];
  }
}

function refusedProof(words: string, aheadMs: number): Told {
  const isSkewed = Math.abs(aheadMs) > MAX_SKEW_MS;
  if (isSkewed || /'(?:issued at|expiration time)' claim/i.test(words)) {
    const amount = isSkewed
      ? `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? "ahead of" : "behind"} that of the host`
      : "not that of the host";
    return ["clockSkew", `the clock of this node is ${amount}: let NTP set it`];
  }
  return ["appKey", "make a new private key on the page of the App, or correct `appId` of the secret"];
}
