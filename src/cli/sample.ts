/** The sample pipeline of a new installation: it builds and tests a small program that comes with the package. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunDetail } from "../app/runs/run-view.ts";
import { textToSpec } from "../definition/edit/render.ts";
import { isFinalRunStatus } from "../domain/status.ts";
import type { ApiClient } from "./api-client.ts";
import { PACKAGE_ROOT } from "../node/package-root.ts";
import { followRun } from "./follow-run.ts";
import { RunView } from "./run-view.ts";
import type { Screen } from "./screen.ts";

const NAME = "hello";
const SOURCE = join(PACKAGE_ROOT, "examples", "hello");

/**
 * Shows a run of the sample from wherever it is to its end: a new one when `always` or when there was none yet, else
 * the newest when it still goes on, else none (undefined). Makes the pipeline when `always` or in an empty installation.
 */
export async function showSample(
  api: ApiClient,
  screen: Screen,
  options: { readonly always: boolean; readonly signal: AbortSignal },
): Promise<RunDetail | undefined> {
  const runId = await sampleRun(api, options.always);
  if (runId === undefined) return undefined;
  const view = new RunView(screen, { name: NAME });
  const follower = { update: view.update.bind(view), log: view.log.bind(view) };
  const run = await followRun(api, runId, follower, options.signal);
  view.end(run);
  return run;
}

async function sampleRun(api: ApiClient, always: boolean): Promise<string | undefined> {
  let pipeline = await api.findPipeline(NAME);
  if (pipeline === undefined) {
    if (!always && (await api.hasPipelines())) return undefined;
    pipeline = await api.createPipeline(NAME, "The sample: builds and tests the program in examples/hello");
  }
  const { pipelineId, headCommitSha, lastRun } = pipeline;
  if (headCommitSha === "") {
    await api.saveSpec(pipelineId, textToSpec(await readFile(join(SOURCE, "pipeline.yaml"), "utf8"), "yaml"));
  }
  if (lastRun === null || always) return (await api.trigger(pipelineId, { source: SOURCE })).runId;
  return isFinalRunStatus(lastRun.status) ? undefined : lastRun.runId;
}
