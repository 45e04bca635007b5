/** The calls of pipeline.v1 on repositories of definitions, and on what their hosts are told. */
import type { PipelineServer } from "../../proto/generated/pipeline/v1/pipeline.ts";
import { commitStatusesQuery, listCommitStatuses } from "../app/commit-statuses/commit-statuses.ts";
import type { AppContext } from "../app/context.ts";
import { checkRepository } from "../app/git/check-repository.ts";
import { discoverBody, discoverDefinitions } from "../app/git/discover.ts";
import { makePipelines, makePipelinesBody } from "../app/git/make-pipelines.ts";
import { moveBody, moveDefinition } from "../app/git/move-definition.ts";
import { checkHostHook, connectHostHook } from "../app/host-hooks/host-hooks.ts";
import { asId, type PipelineId } from "../domain/ids.ts";
import { unary } from "./calls.ts";
import { nonEmpty, paging } from "./messages/fields.ts";
import { parseMessage } from "./messages/parse-message.ts";
import { pipelineRecord } from "./messages/pipeline-messages.ts";
import {
  checkMessage,
  commitStatusMessage,
  discoveryMessage,
  hostHookMessage,
  madeMessage,
  makeBodyOf,
  moveBodyOf,
  withoutEmpty,
} from "./messages/repository-messages.ts";

type RepositoryCalls = Pick<
  PipelineServer,
  | "moveDefinition"
  | "checkRepository"
  | "discoverDefinitions"
  | "makePipelines"
  | "checkHostHook"
  | "connectHostHook"
  | "listCommitStatuses"
>;

export function repositoryCalls(context: AppContext): RepositoryCalls {
  return {
    moveDefinition: unary(context, async ({ pipelineId, ...request }, { caller }) => {
      const body = parseMessage(moveBody, moveBodyOf(request));
      const input = { ...body, pipelineId: asId<PipelineId>(pipelineId) };
      return { pipeline: pipelineRecord(await moveDefinition(context, caller, input)) };
    }),

    checkRepository: unary(context, async ({ pipelineId }, { caller }) =>
      checkMessage(await checkRepository(context, caller, { pipelineId: asId(pipelineId) })),
    ),

    discoverDefinitions: unary(context, async ({ projectId, ...place }, { caller }) => {
      const body = parseMessage(discoverBody, withoutEmpty(place));
      return discoveryMessage(await discoverDefinitions(context, caller, { ...body, projectId: asId(projectId) }));
    }),

    makePipelines: unary(context, async ({ projectId, ...request }, { caller }) => {
      const body = parseMessage(makePipelinesBody, makeBodyOf(request));
      const { list } = await makePipelines(context, caller, { ...body, projectId: asId(projectId) });
      return { pipelines: list.map(madeMessage) };
    }),

    checkHostHook: unary(context, async ({ pipelineId }, { caller }) => ({
      hostHook: hostHookMessage(await checkHostHook(context, caller, { pipelineId: asId(pipelineId) })),
    })),

    connectHostHook: unary(context, async ({ pipelineId }, { caller }) => ({
      hostHook: hostHookMessage(await connectHostHook(context, caller, { pipelineId: asId(pipelineId) })),
    })),

    listCommitStatuses: unary(context, async ({ runId, state, pageSize, after }, { caller }) => {
      const { pageSize: limit } = paging({ page: 0, pageSize });
      const query = parseMessage(commitStatusesQuery, { state: nonEmpty(state), limit, after: nonEmpty(after) });
      const { list, next } = await listCommitStatuses(context, caller, { ...query, runId: asId(runId) });
      return { statuses: list.map(commitStatusMessage), next: next ?? "" };
    }),
  };
}
