/** `millrace tests`: the flaky, failing or slowest tests of a pipeline. */
import type { Schemas } from "../../../../clients/typescript/src/index.ts";
import { formatDuration } from "../../../domain/durations.ts";
import { findPipeline } from "../../remote/find.ts";
import type { Column } from "../../remote/report.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";
import { takeItems } from "../../remote/take.ts";

export interface TestsOptions extends RemoteOptions {
  readonly project?: string;
  readonly filter?: "flaky" | "failing" | "slowest";
  readonly limit: number;
}

type Test = Schemas["TestHistory"];

const COLUMNS: readonly Column<Test>[] = [
  { title: "test", text: ({ suite, name }) => (suite === "" ? name : `${suite}: ${name}`) },
  { title: "job", text: ({ job }) => job },
  { title: "step", text: ({ step }) => step },
  { title: "runs", text: ({ runs }) => `${runs}` },
  { title: "failed", text: ({ failed }) => `${failed}` },
  { title: "flaky", text: ({ flaky }) => `${flaky}` },
  { title: "failing", text: ({ failing }) => (failing === 0 ? "-" : `${failing} runs`) },
  { title: "time", text: ({ durationMs }) => formatDuration(durationMs) },
  { title: "last run", text: ({ results }) => results[0]?.runId ?? "-" },
];

export function listTests(pipeline: string, options: TestsOptions, signal: AbortSignal): Promise<number> {
  const { project, filter = "flaky", limit } = options;
  return withServer(options, signal, async ({ client, report }) => {
    const { pipelineId } = await findPipeline(client, pipeline, project);
    const query = { filter, limit: Math.min(limit, 100) };
    const items = client.items("/pipelines/{pipelineId}/tests", { path: { pipelineId }, query, signal });
    report.list(await takeItems(items, limit), COLUMNS, filter === "slowest" ? "no tests" : `no ${filter} tests`);
  });
}
