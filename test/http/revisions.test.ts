/** The texts of definitions: saved with a layout, listed by revision, compared and restored. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const SPEC = {
  namespace: "demo",
  jobs: [{ name: "one", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }],
};

describe("the texts of definitions", () => {
  let edge: TestEdge;
  before(async () => (edge = await openTestEdge()));
  after(() => edge.close());

  const at = (pipelineId: string, rest = "") => `/api/v1/pipelines/${pipelineId}${rest}`;
  const newPipeline = async (): Promise<string> => {
    const created = await edge.call("POST", "/api/v1/pipelines", { body: { name: newId("prj") } });
    const { pipelineId } = created.body.detail;
    await edge.call("POST", at(pipelineId, "/spec/save"), { body: { spec: SPEC } });
    return pipelineId;
  };

  it("are saved in the caller's own text, whose value must be the definition", async () => {
    const pipelineId = await newPipeline();
    const layout = `# why\nnamespace: demo\njobs: # one job\n  - name: one\n    steps: [{ name: s, uses: shell, args: { script: 'true' } }]\n`;
    const jobs = [{ name: "one", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }];
    const spec = { namespace: "demo", jobs };
    const save = (body: object) => edge.call("POST", at(pipelineId, "/spec/save"), { body });
    const saved = (await save({ spec, layout })).body.detail.headCommitSha;
    const read = async () => (await edge.call("GET", at(pipelineId, "/spec"))).body.detail;
    expect(await read()).to.deep.include({ text: layout, spec, headCommitSha: saved });
    expect((await save({ spec, layout })).body.detail.headCommitSha).to.equal(saved);
    const second = `${layout}# more\n`;
    expect((await save({ spec, layout: second })).body.detail.headCommitSha).not.to.equal(saved);
    for (const wrong of [layout.replace("demo", "other"), JSON.stringify({ jobs }), `${layout}version: v2\n`]) {
      const refused = await save({ spec, layout: wrong });
      expect(refused.body, wrong).to.include({ code: 400, reason: "malformed_request" });
      expect(refused.body.errors[0]).to.include({ pointer: "/layout" });
    }
    expect((await save({ spec, layout: "jobs: [" })).body).to.include({ code: 400, reason: "invalid_definition" });
    expect((await save({ spec, layout, content: layout })).body.errors[0]).to.include({ pointer: "/content" });
    // JSON is a layout of its own.
    const json = JSON.stringify(spec, null, 7);
    await save({ spec, layout: json, format: "json" });
    expect(await read()).to.deep.include({ text: json, format: "json" });
    // The next save without a layout edits the text.
    await save({ spec, layout });
    await save({ spec: { ...spec, namespace: "new" } });
    expect((await read()).text).to.equal(layout.replace("demo", "new"));
  });

  it("are listed by revision, newest first and in pages, and read", async () => {
    const pipelineId = await newPipeline();
    const saved: string[] = [(await edge.call("GET", at(pipelineId, "/spec"))).body.detail.headCommitSha];
    for (const namespace of ["a", "b", "c"]) {
      const body = { spec: { ...SPEC, namespace }, commitMessage: namespace };
      saved.unshift((await edge.call("POST", at(pipelineId, "/spec/save"), { body })).body.detail.headCommitSha);
    }
    const found: string[] = [];
    for (let after = ""; ;) {
      const path = at(pipelineId, `/revisions?pageSize=3${after && `&after=${after}`}`);
      const { list, next } = (await edge.call("GET", path)).body.detail;
      found.push(...list.map(({ revisionId }: { revisionId: string }) => revisionId));
      expect(list.map(({ isHead }: { isHead: boolean }) => isHead).filter(Boolean)).to.have.length(
        after === "" ? 1 : 0,
      );
      if (next === null) break;
      after = next;
    }
    expect(found).to.deep.equal(saved);
    const { detail } = (await edge.call("GET", at(pipelineId, `/revisions/${saved[2]}`))).body;
    expect(detail).to.deep.include({ commitSha: null, branch: null, pullRequest: null });
    expect(detail).to.deep.include({ commitMessage: "a", isHead: false, spec: { ...SPEC, namespace: "a" } });
    const other = await newPipeline();
    for (const rest of [`/revisions/${saved[0]}`, `/revisions/${saved[0]}/diff`, "/revisions/rev_unknown"]) {
      expect((await edge.call("GET", at(other, rest))).status, rest).to.equal(404);
    }
  });

  it("are compared by revision, as texts and as definitions", async () => {
    const pipelineId = await newPipeline();
    const first = (await edge.call("GET", at(pipelineId, "/spec"))).body.detail;
    const layout = `# new\n${first.text.replace("demo", "other")}`;
    const body = { spec: { ...SPEC, namespace: "other" }, layout };
    const second = (await edge.call("POST", at(pipelineId, "/spec/save"), { body })).body.detail.headCommitSha;
    const diff = async (query = "", revisionId = second) =>
      (await edge.call("GET", at(pipelineId, `/revisions/${revisionId}/diff${query}`))).body.detail;
    const texts = await diff();
    expect(texts).to.include({ from: first.headCommitSha, to: second, of: "text" });
    expect(texts.diff).to.include("+# new").and.include("-namespace: demo").and.include("+namespace: other");
    expect((await diff("?of=definition")).diff)
      .to.include("+namespace: other")
      .and.not.include("# new");
    expect((await diff(`?against=${second}`)).diff).to.equal("");
    expect(await diff("", first.headCommitSha)).to.include({ from: null });
    const long = { ...SPEC, jobs: Array.from({ length: 900 }, (_, n) => ({ ...SPEC.jobs[0], name: `j${n}` })) };
    const large = (await edge.call("POST", at(pipelineId, "/spec/save"), { body: { spec: long } })).body.detail;
    const refused = await edge.call("GET", at(pipelineId, `/revisions/${large.headCommitSha}/diff`));
    expect(refused.body).to.include({ code: 400, reason: "too_large" });
  });

  it("are restored as a new revision with the old text, on the expected head only", async () => {
    const pipelineId = await newPipeline();
    const read = async () => await edge.call("GET", at(pipelineId, "/spec"));
    const text = `# kept\n${(await read()).body.detail.text}`;
    const save = (body: object) => edge.call("POST", at(pipelineId, "/spec/save"), { body });
    const first = (await save({ spec: SPEC, layout: text })).body.detail.headCommitSha;
    const second = (await save({ spec: { ...SPEC, namespace: "new" } })).body.detail.headCommitSha;
    const restore = (body: object, headers = {}) =>
      edge.call("POST", at(pipelineId, `/revisions/${first}/restore`), { body, headers });
    expect((await restore({ expectedHeadCommitSha: first })).body).to.include({ code: 409, reason: "head_moved" });
    expect((await restore({}, { "if-match": '"wrong"' })).status).to.equal(412);
    const tag = (await read()).headers.get("etag")!;
    const restored = await restore({ expectedHeadCommitSha: second, requestId: "once" }, { "if-match": tag });
    expect(restored.status, JSON.stringify(restored.body)).to.equal(200);
    const { headCommitSha } = restored.body.detail;
    expect(headCommitSha).to.not.be.oneOf([first, second]);
    const head = (await read()).body.detail;
    expect(head).to.deep.include({ text, headCommitSha, commitMessage: `restore ${first}` });
    // The head is what is restored: nothing changes.
    expect((await restore({})).body.detail.headCommitSha).to.equal(headCommitSha);
    const repeated = await restore({ expectedHeadCommitSha: second, requestId: "once" });
    expect(repeated.body.detail.headCommitSha).to.equal(headCommitSha);
    const { token } = await edge.userWithRole("operator");
    const path = at(pipelineId, `/revisions/${first}/restore`);
    expect((await edge.call("POST", path, { token, body: {} })).status).to.equal(403);
  });
});
