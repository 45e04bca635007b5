/** W10: how long it takes until the process of a cancelled step gets SIGTERM. */
import { jobRunId, stepRunId } from "../../src/domain/ids.ts";
import { percentile } from "../measure/percentiles.ts";
import type { Figure, Marks } from "../system.ts";
import type { Installation } from "./installation.ts";
import type { Runs } from "./runs.ts";

const WARM_UPS = 10;
const TIMES = 100;

/** The time from before the call that cancels a step to the mark that the step's SIGTERM handler writes. */
export async function measureCancels(
  { api }: Pick<Installation, "api">,
  runs: Runs,
  marks: Marks,
): Promise<readonly Figure[]> {
  const mark = (suffix: string): string => marks.command("${{ variables.id }}" + suffix).at(-1)!;
  // `sleep` runs in the background, so that the shell handles the signal at once.
  const script = `trap '${mark("-ended")}; exit 1' TERM; ${mark("-begun")}; sleep 60 & wait`;
  const pipeline = await runs.pipeline([{ steps: [{ uses: "shell", args: { script } }] }]);
  const delays: number[] = [];
  for (let index = -WARM_UPS; index < TIMES; index++) {
    const id = `cancel-${pipeline.id}-${index + WARM_UPS}`;
    const runId = await runs.trigger(pipeline, { id });
    await marks.seen(`${id}-begun`);
    const step = stepRunId(runId, jobRunId(runId, 0, 1), 0, 1);
    const from = performance.now();
    const [at] = await Promise.all([
      marks.seen(`${id}-ended`),
      api.call("POST", `/pipelines/${pipeline.id}/runs/${runId}/steps/${step}/cancel`, {}),
    ]);
    if (index >= 0) delays.push(at - from);
  }
  return [
    { metric: "p50", unit: "ms", value: percentile(delays, 0.5) },
    { metric: "p99", unit: "ms", value: percentile(delays, 0.99) },
  ];
}
