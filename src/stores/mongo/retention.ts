/** The store of the retention pruner in MongoDB. */
import type { Filter } from "mongodb";
import type { KeptPart } from "../../domain/retention.ts";
import type { GroupId, PipelineId, RunId } from "../../domain/ids.ts";
import { type AggregateHead, GROUP_IDS, NO_PIPELINE } from "../ports/aggregates.ts";
import type { KeptRun, RetentionStore } from "../ports/retention.ts";
import type { Connection } from "./connection.ts";

/** Values of the fields `logsGone`, `artifactsGone` and `eventsGone`; a run without the field has the part. */
const DROPPING = 1;
const GONE = 2;
const NOT_GONE = { $in: [null, DROPPING] };

interface HeadDocument extends Pick<AggregateHead, "version" | "settled" | "summary" | "origin"> {
  readonly _id: RunId;
  readonly logsGone?: number | null;
  readonly artifactsGone?: number | null;
  readonly eventsGone?: number | null;
}

type Gone = "logsGone" | "artifactsGone" | "eventsGone";

const HAS_PART: Record<KeptPart, Filter<HeadDocument>> = {
  runs: {},
  logs: { logsGone: NOT_GONE },
  artifacts: { artifactsGone: NOT_GONE },
  events: { eventsGone: NOT_GONE },
};
const STEPS_AT_ONCE = 1_000;

export function retentionStore(connection: Connection): RetentionStore {
  const aggregates = connection.collection<HeadDocument>("aggregates");
  const mark = async (runId: RunId, field: Gone, value: number): Promise<void> => {
    await aggregates.updateOne({ _id: runId }, { $set: { [field]: value } });
  };
  return {
    async nextPipeline(after) {
      // The pipeline of a group is empty, so this leaves groups out.
      const found = await aggregates.findOne(
        { "summary.pipelineId": { $gt: after as PipelineId } },
        { sort: { "summary.pipelineId": 1 }, projection: { "summary.pipelineId": 1 } },
      );
      return found?.summary.pipelineId;
    },
    async nthNewest(newer, of) {
      const filter =
        "pipelineId" in of ? { "summary.pipelineId": of.pipelineId } : { "summary.projectId": of.projectId };
      const found = await aggregates.findOne(filter, {
        sort: { "summary.createdAt": -1, _id: -1 },
        skip: newer,
        projection: { "summary.createdAt": 1, "summary.projectId": 1 },
      });
      if (found === null) return undefined;
      const { createdAt, projectId } = found.summary;
      return { createdAt, projectId, runId: found._id };
    },
    async newestRuns(since, limit) {
      const newest = aggregates
        .find(
          { "summary.createdAt": { $gt: since }, "summary.pipelineId": { $ne: NO_PIPELINE } },
          { projection: { "summary.pipelineId": 1, "summary.projectId": 1 } },
        )
        .sort({ "summary.createdAt": -1 })
        .limit(limit);
      return newest.map(({ summary: { pipelineId, projectId } }) => ({ pipelineId, projectId })).toArray();
    },
    async pageRuns(pipelineId, part, { upTo, after, limit }) {
      const rest = after && [
        { "summary.createdAt": after.createdAt, _id: { $gt: after.runId } },
        { "summary.createdAt": { $gt: after.createdAt } },
      ];
      const page = aggregates
        .find(
          {
            "summary.pipelineId": pipelineId,
            "summary.createdAt": { $lte: upTo },
            ...HAS_PART[part],
            ...(rest && { $or: rest }),
          },
          { projection: { settled: 1, summary: 1, origin: 1 } },
        )
        .sort({ "summary.createdAt": 1, _id: 1 })
        .limit(limit);
      return page.map(toRun).toArray();
    },
    async dropped(runId) {
      const found = await aggregates.findOne(
        { _id: runId },
        { projection: { logsGone: 1, artifactsGone: 1, eventsGone: 1 } },
      );
      if (found === null) return undefined;
      const { logsGone, artifactsGone, eventsGone } = found;
      return { logs: logsGone != null, artifacts: artifactsGone != null, events: eventsGone != null };
    },
    async dropLogs(runId, stepRunIds) {
      await mark(runId, "logsGone", DROPPING);
      for (let at = 0; at < stepRunIds.length; at += STEPS_AT_ONCE) {
        const $in = stepRunIds.slice(at, at + STEPS_AT_ONCE);
        // Before the chunks: who joins some of them meanwhile looks at the head afterwards.
        await connection.collection("log_heads").updateMany({ _id: { $in } }, { $set: { gone: true } });
        await connection.collection("log_chunks").deleteMany({ stepRunId: { $in } });
      }
      await mark(runId, "logsGone", GONE);
    },
    async dropEvents(runId) {
      await mark(runId, "eventsGone", DROPPING);
      await connection.collection("events").deleteMany({ runId });
      await connection.collection("agent_events").deleteMany({ owner: runId });
      await mark(runId, "eventsGone", GONE);
    },
    noteNoArtifacts: (runId) => mark(runId, "artifactsGone", GONE),
    async pageGroups(after, limit) {
      const page = await aggregates
        .find(
          { "summary.pipelineId": NO_PIPELINE, _id: groupIdsAfter(after) },
          { projection: { version: 1, settled: 1 } },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return page.map(({ _id, version, settled }) => ({ groupId: _id as string as GroupId, version, isIdle: settled }));
    },
    async removeGroup({ groupId, version }) {
      const inbox = connection.collection("inbox");
      if ((await inbox.findOne({ rootId: groupId }, { projection: { _id: 1 } })) !== null) return false;
      // A command that is stored in its inbox from here on creates the group again.
      const group = { _id: groupId as string as RunId, version, settled: true, "summary.pipelineId": NO_PIPELINE };
      const { deletedCount } = await aggregates.deleteOne(group);
      if (deletedCount > 0) await connection.collection("inbox_counters").deleteOne({ _id: groupId });
      return deletedCount > 0;
    },
  };
}

/** The ids of groups alone: the end of the list must not be sought among the runs. */
function groupIdsAfter(after: string): { readonly $gt: RunId; readonly $lt: RunId } {
  return { $gt: (after || GROUP_IDS.from) as RunId, $lt: GROUP_IDS.to as string as RunId };
}

function toRun({
  _id,
  settled,
  summary,
  origin,
}: Pick<HeadDocument, "_id" | "settled" | "summary" | "origin">): KeptRun {
  const { createdAt, endedAt, projectId } = summary;
  return { runId: _id, createdAt, endedAt, settled, projectId, origin };
}
