/** `millrace runs update`: the priority and the notes of a step that waits. */
import type { Schemas } from "../../../../clients/typescript/src/index.ts";
import { UsageError } from "../../command-line.ts";
import { findRunId, missing } from "../../remote/find.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";

export interface UpdateOptions extends RemoteOptions {
  readonly project?: string;
  readonly priority?: number;
  /** `name=value` texts; an empty value removes the note. */
  readonly note: readonly string[];
}

/** Changes what the options name; the other notes of the step stay. */
export function updateStep(run: string, step: string, options: UpdateOptions, signal: AbortSignal): Promise<number> {
  const { priority, note, project } = options;
  const notes = note.map(noteOf);
  if (priority === undefined && notes.length === 0) throw new UsageError("say what to change: --priority or --note");
  return withServer(options, signal, async ({ client, report }) => {
    const runId = await findRunId(client, run, project);
    const detail = await client.get("/pipelines/runs/{runId}", { path: { runId }, signal });
    const path = { pipelineId: detail.pipelineId, runId, stepRunId: findStep(detail, step) };
    const at = "/pipelines/{pipelineId}/runs/{runId}/steps/{stepRunId}";
    const before = await client.getTagged(at, { path, signal });
    const metadata = new Map(Object.entries(before.detail.metadata));
    for (const [name, value] of notes) {
      if (value === "") metadata.delete(name);
      else metadata.set(name, value);
    }
    const body = {
      ...(priority !== undefined && { priority }),
      ...(notes.length > 0 && { metadata: Object.fromEntries(metadata) }),
    };
    // Notes that another user adds meanwhile are not lost: this change is refused then.
    const ifMatch = before.etag === undefined ? {} : { ifMatch: before.etag };
    const after = await client.patch(at, { path, body, ...ifMatch, signal });
    const shown = Object.entries(after.metadata).map(([name, value]) => `note     ${name}=${value}`);
    report.object(after, `${step} has the priority ${after.priority}`, ...shown);
  });
}

/** The id of the step run that is named by its id, as `job/step`, or as `step` when no other job has such a step. */
function findStep({ jobs, runId }: Schemas["RunDetail"], named: string): string {
  const steps = jobs.flatMap((job) => job.steps.map((step) => ({ ...step, path: `${job.name}/${step.name}` })));
  const found = steps.filter(({ stepRunId, name, path }) => [stepRunId, name, path].includes(named));
  if (found.length === 1) return found[0]!.stepRunId;
  if (found.length > 1) {
    throw new UsageError(`several jobs have a step "${named}": ${found.map(({ path }) => path).join(", ")}`);
  }
  throw missing("step", named, `millrace runs show ${runId}`);
}

function noteOf(text: string): readonly [name: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--note ${text}: must be NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}
