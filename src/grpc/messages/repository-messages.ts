/** Repositories of definitions, and webhooks and commit statuses at their hosts, as messages of pipeline.v1. */
import type {
  CheckRepositoryResponse,
  CommitStatus,
  DefinitionPlace,
  DiscoverDefinitionsResponse,
  HostHook,
  HostHookOutcome,
  MadePipeline,
  MakeOutcome,
  MakePipelinesRequest,
  MoveDefinitionRequest,
} from "../../../proto/generated/pipeline/v1/pipeline.ts";
import type { CommitStatusView } from "../../app/commit-statuses/commit-statuses.ts";
import type { RepositoryCheck } from "../../app/git/check-repository.ts";
import type { Discovery } from "../../app/git/discover.ts";
import type { Made } from "../../app/git/make-pipelines.ts";
import type { HostHookView } from "../../app/host-hooks/host-hooks.ts";
import { nonEmpty, unixMs, withoutUndefined } from "./fields.ts";
import { SAVE_MODES } from "./pipeline-messages.ts";
import { diagnosticMessage } from "./plan-messages.ts";
import { FORMATS, wordOf } from "./words.ts";

const PLACES = {
  inline: "DEFINITION_PLACE_INLINE",
  git: "DEFINITION_PLACE_GIT",
} as const satisfies Record<string, DefinitionPlace>;

const MAKE_OUTCOMES = {
  created: "MAKE_OUTCOME_CREATED",
  connected: "MAKE_OUTCOME_CONNECTED",
  refused: "MAKE_OUTCOME_REFUSED",
} as const satisfies Record<Made["outcome"], MakeOutcome>;

const HOOK_OUTCOMES = {
  unchanged: "HOST_HOOK_OUTCOME_UNCHANGED",
  made: "HOST_HOOK_OUTCOME_MADE",
  repaired: "HOST_HOOK_OUTCOME_REPAIRED",
} as const satisfies Record<HostHookView["outcome"], HostHookOutcome>;

/** The request as the body that the same call has over HTTP. */
export function moveBodyOf({ to, ...texts }: Omit<MoveDefinitionRequest, "pipelineId">): unknown {
  return { to: wordOf(PLACES, to), ...withoutEmpty(texts) };
}

/** The request as the body that the same call has over HTTP. */
export function makeBodyOf({ saveMode, files, ...texts }: Omit<MakePipelinesRequest, "projectId">): unknown {
  return { ...withoutEmpty(texts), saveMode: wordOf(SAVE_MODES, saveMode), files: files.map(withoutEmpty) };
}

/** The fields that have a text. */
export function withoutEmpty(texts: object): Readonly<Record<string, unknown>> {
  return withoutUndefined(
    Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, nonEmpty(value as string)])),
  );
}

export function checkMessage(check: RepositoryCheck): CheckRepositoryResponse {
  const { branch, path, canRead, hasFile } = check;
  return {
    branch,
    path,
    canRead,
    hasFile,
    headCommitSha: check.headCommitSha ?? "",
    canPush: check.canPush ?? undefined,
    canPropose: check.canPropose ?? undefined,
    canManageHooks: check.canManageHooks ?? undefined,
    problems: [...check.problems],
  };
}

export function discoveryMessage({ branch, headCommitSha, list, hasMore }: Discovery): DiscoverDefinitionsResponse {
  return {
    branch,
    headCommitSha: headCommitSha ?? "",
    hasMore,
    definitions: list.map(({ pipeline, format, diagnostics, ...found }) => ({
      ...found,
      format: FORMATS[format],
      diagnostics: diagnostics.map(diagnosticMessage),
      pipelineId: pipeline?.pipelineId ?? "",
      pipelineName: pipeline?.name ?? "",
    })),
  };
}

export function madeMessage({ outcome, pipelineId, ...made }: Made): MadePipeline {
  return { ...made, outcome: MAKE_OUTCOMES[outcome], pipelineId: pipelineId ?? "" };
}

export function hostHookMessage({ provider, hookId, address, outcome, webhook, problems }: HostHookView): HostHook {
  return {
    provider,
    hookId: hookId ?? "",
    address: address ?? "",
    outcome: HOOK_OUTCOMES[outcome],
    webhook: webhook === null ? undefined : { ...webhook, lastStatus: webhook.lastStatus ?? undefined },
    problems: [...problems],
  };
}

export function commitStatusMessage(status: CommitStatusView): CommitStatus {
  const { job, createdAt, lastTry, nextTry, ...rest } = status;
  const moments = { createdAtMs: unixMs(createdAt), lastTryMs: unixMs(lastTry), nextTryMs: unixMs(nextTry) };
  return { ...rest, job: job ?? "", ...moments };
}
