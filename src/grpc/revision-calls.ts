/** The calls of pipeline.v1 on the revisions of a definition. */
import { pullRequestMessage, savedMessage } from "./messages/saved-message.ts";
import type { DiffOf, PipelineServer, RevisionRecord } from "../../proto/generated/pipeline/v1/pipeline.ts";
import {
  diffQuery,
  diffRevisions,
  getRevision,
  listRevisions,
  listRevisionsQuery,
  restoreBody,
  restoreRevision,
  type RevisionView,
} from "../app/catalogue/revisions.ts";
import type { AppContext } from "../app/context.ts";
import { asId, type PipelineId, type RevisionId } from "../domain/ids.ts";
import { unary } from "./calls.ts";
import { nonEmpty, paging, unixMs } from "./messages/fields.ts";
import { parseMessage } from "./messages/parse-message.ts";
import { FORMATS, wordOf } from "./messages/words.ts";

const PARTS = { text: "DIFF_OF_TEXT", definition: "DIFF_OF_DEFINITION" } as const satisfies Record<string, DiffOf>;

type RevisionCalls = Pick<PipelineServer, "listRevisions" | "getRevision" | "diffRevisions" | "restoreRevision">;

export function revisionCalls(context: AppContext): RevisionCalls {
  return {
    listRevisions: unary(context, async ({ pipelineId, pageSize, after }, { caller }) => {
      const { pageSize: size } = paging({ page: 0, pageSize });
      const query = parseMessage(listRevisionsQuery, { pageSize: size, after: nonEmpty(after) });
      const { list, next } = await listRevisions(context, caller, { ...query, pipelineId: asId(pipelineId) });
      return { revisions: list.map(revisionRecord), next: next ?? "" };
    }),

    getRevision: unary(context, async (request, { caller }) => {
      const { spec, text, ...revision } = await getRevision(context, caller, revisionOf(request));
      return { revision: revisionRecord(revision), spec: spec as Readonly<Record<string, unknown>>, text };
    }),

    diffRevisions: unary(context, async (request, { caller }) => {
      const query = parseMessage(diffQuery, { against: nonEmpty(request.against), of: wordOf(PARTS, request.of) });
      const { from, to, diff } = await diffRevisions(context, caller, { ...query, ...revisionOf(request) });
      return { from: from ?? "", to, diff };
    }),

    restoreRevision: unary(context, async (request, { caller }) => {
      const { expectedHeadCommitSha, commitMessage, requestId, editor } = request;
      const body = parseMessage(restoreBody, {
        expectedHeadCommitSha: nonEmpty(expectedHeadCommitSha),
        commitMessage: nonEmpty(commitMessage),
        requestId: nonEmpty(requestId),
        editor: nonEmpty(editor),
      });
      return savedMessage(await restoreRevision(context, caller, { ...body, ...revisionOf(request) }));
    }),
  };
}

function revisionOf({ pipelineId, revisionId }: { readonly pipelineId: string; readonly revisionId: string }) {
  return { pipelineId: asId<PipelineId>(pipelineId), revisionId: asId<RevisionId>(revisionId) };
}

function revisionRecord({
  savedAt,
  format,
  commitSha,
  branch,
  pullRequest,
  ...revision
}: RevisionView): RevisionRecord {
  return {
    ...revision,
    format: FORMATS[format],
    savedAtMs: unixMs(savedAt),
    commitSha: commitSha ?? "",
    branch: branch ?? "",
    pullRequest: pullRequestMessage(pullRequest),
  };
}
