/** The uploads of a trigger beyond its run: in dry runs, and in runs that are run again. */
import { expect } from "chai";
import { newId, type UploadId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { GRANT, saveTurn } from "../support/stored-runs.ts";

const UPLOADS = "/api/v1/projects/default/uploads";

describe("the uploads of a trigger over HTTP", () => {
  let edge: TestEdge;
  before(async () => void (edge = await openTestEdge()));
  after(() => edge.close());

  async function upload(name: string): Promise<{ readonly uploadId: UploadId }> {
    const { uploadId } = (await edge.call("POST", UPLOADS, { body: { name, size: 3 } })).body.detail;
    const headers = { "content-type": "application/offset+octet-stream", "upload-offset": "0" };
    const sent = await edge.call("PATCH", `${UPLOADS}/${uploadId}/content`, { raw: Buffer.from("abc"), headers });
    expect(sent.body.detail).to.include({ status: "stored" });
    return { uploadId };
  }

  it("are given to a dry run, which conditions read as in a run", async () => {
    const sent = await upload("firmware.bin");
    const { pipelineId } = (await edge.call("POST", "/api/v1/pipelines", { body: { name: "dry" } })).body.detail;
    const steps = [{ uses: "upload", args: { name: "FIRMWARE" } }];
    const spec = { jobs: [{ name: "j", when: "${{ trigger.uploads.FIRMWARE.name == 'firmware.bin' }}", steps }] };
    const plan = async (body: object) =>
      (await edge.call("POST", `/api/v1/pipelines/${pipelineId}/plan`, { body: { spec, ...body } })).body;
    const outcome = async (body: object) => (await plan(body)).detail.stages[0].jobs[0].verdict.outcome;
    expect([await outcome({ uploads: { FIRMWARE: sent.uploadId } }), await outcome({})]).to.deep.equal([
      "runs",
      "skipped",
    ]);
    const unknown = await plan({ uploads: { FIRMWARE: newId("upl") } });
    expect([unknown.reason, unknown.errors[0].pointer]).to.deep.equal(["malformed_request", "/uploads/FIRMWARE"]);
    const cron = await plan({ uploads: { FIRMWARE: sent.uploadId }, trigger: { kind: "cron" } });
    expect(cron.errors).to.deep.equal([
      { code: "custom", pointer: "/uploads", message: "go with the trigger `manual` alone" },
    ]);
  });

  it("that were deleted keep a run from being run again, where a step would fetch them again", async () => {
    const sent = await upload("firmware.bin");
    const { pipelineId } = (await edge.call("POST", "/api/v1/pipelines", { body: { name: "again" } })).body.detail;
    const shell = { uses: "shell", args: { script: "true" } };
    const jobs = [
      { name: "flash", steps: [{ uses: "upload", args: { name: "FIRMWARE" } }] },
      { name: "lint", steps: [shell] },
    ];
    await edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, { body: { spec: { jobs } } });
    const uploads = { FIRMWARE: sent.uploadId };
    const path = `/api/v1/pipelines/${pipelineId}`;
    const { runId } = (await edge.call("POST", `${path}/trigger`, { body: { uploads } })).body.detail;
    const { actors } = (await edge.context.stores.aggregates.load(runId))!;
    const idsOf = (wanted: string) => actors.filter(({ kind }) => kind === wanted).map(({ id }) => id as never);
    const stateOf = (at: number) => (at === 0 ? ("success" as const) : ("failed" as const));
    const ended = { startedAt: 2, endedAt: 3, grant: GRANT };
    await saveTurn(
      edge.context,
      { runId, pipelineId, jobIds: [], stepIds: [] },
      {
        run: { state: "failed", endedAt: 3 },
        jobs: idsOf("job").map((jobId, at) => ({ jobId, state: stateOf(at), ...ended })),
        steps: idsOf("step").map((stepRunId, at) => ({ stepRunId, state: stateOf(at), ...ended })),
      },
    );
    expect((await edge.call("DELETE", `${UPLOADS}/${sent.uploadId}`)).status).to.equal(200);
    const rerun = (scope: string) => edge.call("POST", `${path}/runs/${runId}/rerun`, { body: { scope } });
    const refused = await rerun("all");
    expect(refused.body).to.include({ code: 409, reason: "conflict" });
    expect(refused.body.errMsg)
      .to.include(`FIRMWARE (firmware.bin, ${sent.uploadId})`)
      .and.include("send the files again");
    expect((await rerun("failed")).status, "no step that runs again fetches it").to.equal(200);
  });
});
