/** The sample pipeline of a new installation. It builds and tests a small program that is part of the package. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { textToSpec } from "../../definition/edit/render.ts";
import { isFinalRunStatus } from "../../domain/status.ts";
import type { ApiClient } from "../api-client.ts";
import { PACKAGE_ROOT } from "../../node/package-root.ts";
import { followRun } from "../follow-run.ts";
import type { RunDetail } from "../run-tree.ts";
import { RunView } from "../run-view.ts";
import type { Screen } from "../screen.ts";

const NAME = "hello";
const SOURCE = join(PACKAGE_ROOT, "examples", "hello");

/**
 * Follows a run of the sample pipeline until it is final, and resolves with it. With `always`, or when the pipeline has no
 * run, a new run is started; otherwise the newest run is followed if it is not final, else the result is undefined. The
 * pipeline is created with `always` or in an installation without pipelines; otherwise, without it, the result is undefined.
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
