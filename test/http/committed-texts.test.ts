import { expect } from "chai";
import { asId, newId, type PipelineId, type RevisionId } from "../../src/domain/ids.ts";
import type { Revision } from "../../src/stores/ports/pipelines.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const TEXT = `# Builds and ships.
namespace: demo   # dotted
version: '1'

jobs:
  # Runs first.
  - name: build
    steps:
      - { name: say, uses: shell, args: { script: echo good morning } } # short
`;

describe("a committed text with comments", () => {
  let edge: TestEdge;
  let pipelineId: PipelineId;
  let names = 0;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());
  beforeEach(async () => {
    const created = await edge.call("POST", "/api/v1/pipelines", { body: { name: `p${++names}` } });
    pipelineId = asId<PipelineId>(created.body.detail.pipelineId);
  });

  const at = (rest: string) => `/api/v1/pipelines/${pipelineId}${rest}`;
  const read = async () => (await edge.call("GET", at("/spec"))).body.detail;
  const save = (body: object) => edge.call("POST", at("/spec/save"), { body });

  function revisionOf(text: string, format: Revision["format"] = "yaml"): Revision {
    const revisionId = newId("rev");
    return { revisionId, pipelineId, format, text, message: "", editor: "git", actor: "git", createdAt: Date.now() };
  }
  /** Makes a text the head, as a commit from elsewhere would. */
  async function commit(text: string, format: Revision["format"] = "yaml"): Promise<RevisionId> {
    const revision = revisionOf(text, format);
    const pipeline = await edge.context.stores.pipelines.find(pipelineId);
    const outcome = await edge.context.stores.pipelines.saveRevision(revision, pipeline!.headRevisionId);
    expect(outcome).to.equal("saved");
    return revision.revisionId;
  }

  it("changes only in the line of a value that a save changed", async () => {
    const head = await commit(TEXT);
    const { spec, format, headCommitSha } = await read();
    spec.jobs[0].steps[0].args.script = "echo good evening";
    const saved = await save({ spec, format, expectedHeadCommitSha: headCommitSha });
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    const after = await read();
    expect(after.text).to.equal(TEXT.replace("morning", "evening"));
    expect(after.headCommitSha).to.equal(saved.body.detail.headCommitSha).and.not.to.equal(head);
  });

  it("is written again as a whole in another format", async () => {
    await commit(TEXT);
    const { spec } = await read();
    await save({ spec, format: "json" });
    expect(await read()).to.include({ format: "json", text: `${JSON.stringify(spec, null, 2)}\n` });
    await save({ spec: { ...spec, version: "2" }, format: "json" });
    expect((await read()).text).to.equal(`${JSON.stringify({ ...spec, version: "2" }, null, 2)}\n`);
  });

  it("gives problems their places in the text that would be committed", async () => {
    await commit(TEXT);
    const { spec } = await read();
    spec.jobs[0].needs = ["missing"];
    const validated = await edge.call("POST", at("/spec/validate"), { body: { spec } });
    const refused = await save({ spec });
    for (const [problem] of [validated.body.detail.diagnostics, refused.body.errors]) {
      expect(problem).to.include({ code: "unknown-job", pointer: "/jobs/0/needs/0", line: 11, column: 9 });
    }
    expect((await read()).text).to.equal(TEXT);
  });

  it("gets no new revision from a save that changes nothing", async () => {
    const head = await commit(TEXT);
    const { spec } = await read();
    const { version, ...rest } = spec;
    for (const body of [{ spec }, { spec: { ...rest, version } }, { spec, expectedHeadCommitSha: head }]) {
      expect((await save({ ...body, commitMessage: "again" })).body.detail.headCommitSha).to.equal(head);
    }
    expect(await read()).to.include({ text: TEXT, headCommitSha: head, commitMessage: "" });
    const moved = await save({ spec, expectedHeadCommitSha: "rev_other" });
    expect(moved.body).to.include({ code: 409, reason: "head_moved" });
  });

  it("gets the first answer again for a repeated requestId, also of a save without a change", async () => {
    const head = await commit(TEXT);
    const { spec } = await read();
    const other = { ...spec, version: "2" };
    const idle = { spec, requestId: "idle" };
    const change = { spec: other, requestId: "change" };
    expect((await save(idle)).body.detail.headCommitSha).to.equal(head);
    const changed = (await save(change)).body.detail.headCommitSha;
    expect(changed).not.to.equal(head);
    // The head holds this very definition by now, and then another again.
    expect((await save(change)).body.detail.headCommitSha).to.equal(changed);
    expect((await save(idle)).body.detail.headCommitSha).to.equal(head);
    const newest = await commit(TEXT);
    expect((await save(change)).body.detail.headCommitSha).to.equal(changed);
    expect((await save(idle)).body.detail.headCommitSha).to.equal(head);
    expect((await save({ ...idle, spec: other })).body).to.include({ code: 409, reason: "request_id_reused" });
    expect(await read()).to.include({ headCommitSha: newest, text: TEXT });
  });

  it("keeps the comments of an intermediate head whose values the save replaces", async () => {
    await commit(TEXT);
    const { spec } = await read();
    const { pipelines } = edge.context.stores;
    const saveRevision = pipelines.saveRevision.bind(pipelines);
    pipelines.saveRevision = async (revision, expectedHead) => {
      pipelines.saveRevision = saveRevision;
      await commit(TEXT.replace("# Runs first.", "# Runs before all.").replace("demo ", "else "));
      return saveRevision(revision, expectedHead);
    };
    const saved = await save({ spec: { ...spec, version: "2" } });
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    expect((await read()).text).to.equal(TEXT.replace("# Runs first.", "# Runs before all.").replace("'1'", "'2'"));
  });
});
