/** Images whose tags move, in definitions that are validated over HTTP: the warning knows the last run. */
import { expect } from "chai";
import { asId, type PipelineId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { planOf } from "../support/plans.ts";
import { storeRun } from "../support/stored-runs.ts";

const IMAGES = ["node:latest", "nginx:stable", "postgres:17.2"];
const SPEC = {
  jobs: IMAGES.map((image, index) => ({
    name: `job-${index}`,
    container: image,
    steps: [{ uses: "shell", args: { script: "make" } }],
  })),
};
const digestOf = (digit: number) => `sha256:${String(digit).repeat(64)}`;
const moves = (tag: string) => `the tag \`${tag}\` of this image names another image with each release`;
const unknown = (tag: string) =>
  `${moves(tag)} (name a version, or the digest that the log of a run tells: \`name@sha256:...\`)`;

describe("an image whose tag moves", () => {
  let edge: TestEdge;
  before(async () => void (edge = await openTestEdge()));
  after(() => edge.close());

  it("draws a warning with the digest that it had in the newest run that knows one", async () => {
    const made = await edge.call("POST", "/api/v1/pipelines", { body: { name: "moving" } });
    const pipelineId = asId<PipelineId>(made.body.detail.pipelineId);
    const warnings = async () => {
      const path = `/api/v1/pipelines/${pipelineId}/spec/validate`;
      const { detail } = (await edge.call("POST", path, { body: { spec: SPEC } })).body;
      expect(detail).to.include({ valid: true });
      return detail.diagnostics.map(({ message, hint }: Record<string, string>) => `${message} (${hint})`);
    };
    expect(await warnings()).to.deep.equal([unknown("latest"), unknown("stable")]);
    for (const [index, digest] of [digestOf(1), digestOf(2), undefined].entries()) {
      const context = { ...edge.context, clock: { ...edge.context.clock, now: () => index } };
      const { runId } = await storeRun(context, { ...planOf([[{}]]), pipelineId });
      if (digest !== undefined) await context.stores.runImages.pin({ runId, image: "node:latest", digest });
    }
    const digest = digestOf(2);
    const known = `${moves("latest")}; in the last run that used it, it was ${digest}`;
    expect(await warnings()).to.deep.equal([
      `${known} (name a version, or the image of that run: \`node@${digest}\`)`,
      unknown("stable"),
    ]);
  });
});
