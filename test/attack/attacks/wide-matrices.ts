import { ONE_MATRIX, TWO_MATRICES } from "../../support/wide-matrices.ts";
import type { Attack, Target } from "../attack.ts";

const RUNS_AT_ONCE = 4;
const SLOW_MS = 1_000;

const DEFINITIONS = [ONE_MATRIX, TWO_MATRICES];

export const attack: Attack = {
  name: "wide-matrices",
  title:
    "triggers runs of 1,024 cells with maxParallel 4, alone and with needs between two such matrices, and stops them",
  as: "author",
  async run(target, signal) {
    const pipelines = await Promise.all(DEFINITIONS.map((spec, at) => savePipeline(target, `wide ${at}`, spec)));
    const running: string[] = [];
    for (let round = 0; !signal.aborted; round++) {
      const pipeline = pipelines[round % pipelines.length]!;
      const from = performance.now();
      const answer = await post(target, `${pipeline}/trigger`, {});
      target.count(performance.now() - from < SLOW_MS ? "trigger within 1 s" : "trigger after 1 s");
      const runId = (answer as { readonly runId?: string } | undefined)?.runId;
      if (runId !== undefined) running.push(`${pipeline}/runs/${runId}/stop`);
      if (running.length > RUNS_AT_ONCE) await post(target, running.shift()!, {});
    }
  },
};

async function savePipeline(target: Target, name: string, spec: unknown): Promise<string> {
  const { pipelineId } = (await post(target, "/api/v1/pipelines", { name })) as { readonly pipelineId: string };
  const pipeline = `/api/v1/pipelines/${pipelineId}`;
  await post(target, `${pipeline}/spec/save`, { spec });
  return pipeline;
}

/** Answers the detail of the envelope. */
async function post(target: Target, path: string, body: unknown): Promise<unknown> {
  const answer = await target.call("POST", path, { token: target.tokens.maintainer, body });
  return (answer?.body as { readonly detail?: unknown } | undefined)?.detail;
}
