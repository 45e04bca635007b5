/** `millrace stats`: how the runs and jobs of a pipeline have ended, how long they took, and how long they waited. */
import type { Schemas } from "../../../../clients/typescript/src/index.ts";
import { formatDuration } from "../../../domain/durations.ts";
import { findPipeline } from "../../remote/find.ts";
import type { Column } from "../../remote/report.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";

export interface StatsOptions extends RemoteOptions {
  readonly project?: string;
  readonly days?: number;
}

type Statistics = Schemas["Statistics"];
type Figures = Statistics["runs"];
type Row = Figures & { readonly name: string };

const COLUMNS: readonly Column<Row>[] = [
  { title: "name", text: ({ name }) => name },
  { title: "ended", text: ({ results }) => `${sum(Object.values(results))}` },
  {
    title: "success",
    text: ({ successRate }) => (successRate === null ? "-" : `${Math.round(successRate * 1_000) / 10} %`),
  },
  { title: "flaky", text: ({ flaky }) => `${flaky}` },
  { title: "p50", text: ({ duration }) => timeOf(duration?.p50) },
  { title: "p95", text: ({ duration }) => timeOf(duration?.p95) },
  { title: "agent p95", text: ({ waits }) => timeOf(waits.agent?.p95) },
];

export function showStats(pipeline: string, options: StatsOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { pipelineId, name } = await findPipeline(client, pipeline, options.project);
    const query = options.days === undefined ? {} : { days: options.days };
    const found = await client.get("/pipelines/{pipelineId}/statistics", { path: { pipelineId }, query, signal });
    if (report.isJson) return report.json(found);
    const rows = [{ name, ...found.runs }, ...found.jobs.map((job) => ({ ...job, name: `  ${job.name}` }))];
    report.list(rows, COLUMNS, "");
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function timeOf(ms: number | undefined): string {
  return ms === undefined ? "-" : formatDuration(ms);
}
