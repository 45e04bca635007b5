import { expect } from "chai";
import { asId, type PipelineId, type RunId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { until } from "../support/until.ts";

const SPEC = {
  namespace: "demo",
  version: "1",
  jobs: [
    {
      name: "build",
      steps: [{ name: "say", uses: "shell", args: { script: "echo $REF" }, env: { REF: "${{ trigger.ref }}" } }],
    },
  ],
};
const OTHER_SPEC = { ...SPEC, version: "2" };
const BAD_SPEC = {
  jobs: [{ name: "build", needs: ["missing"], steps: [{ uses: "shell", args: { script: "x" }, colour: 1 }] }],
};

describe("pipelines over HTTP", () => {
  let edge: TestEdge;
  let names = 0;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());

  async function newPipeline(fields: object = {}): Promise<string> {
    const answer = await edge.call("POST", "/api/v1/pipelines", { body: { name: `p${++names}`, ...fields } });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail.pipelineId;
  }
  async function newDefinedPipeline(fields: object = {}): Promise<string> {
    const pipelineId = await newPipeline(fields);
    const saved = await edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, { body: { spec: SPEC } });
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    return pipelineId;
  }
  const at = (pipelineId: string, rest = "") => `/api/v1/pipelines/${pipelineId}${rest}`;

  describe("records", () => {
    it("are created with defaults, and read back as they were answered", async () => {
      const metadata = { "a.b": "1", $x: "2", "": "3" };
      const created = await edge.call("POST", "/api/v1/pipelines", {
        body: { name: "records", description: "d", defaultBranch: "main", metadata },
      });
      expect(created.body.detail).to.deep.include({
        projectId: "default",
        name: "records",
        description: "d",
        repoUrl: "",
        defaultBranch: "main",
        saveMode: "direct",
        metadata,
        createdBy: "admin",
        headCommitSha: "",
        status: "pending",
        lastRun: null,
        lastRuns: [],
      });
      expect(created.body.detail.pipelineId).to.match(/^pl_/);
      expect(created.body.detail.createdAt).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      const read = await edge.call("GET", at(created.body.detail.pipelineId));
      expect(read.body.detail).to.deep.equal(created.body.detail);
    });

    it("keep the fields that an update leaves out", async () => {
      const pipelineId = await newPipeline({ description: "d", metadata: { a: "1" } });
      const updated = await edge.call("PUT", at(pipelineId), { body: { name: "renamed", defaultBranch: "main" } });
      expect(updated.body.detail).to.deep.include({
        name: "renamed",
        defaultBranch: "main",
        description: "d",
        metadata: { a: "1" },
      });
      expect((await edge.call("GET", at(pipelineId))).body.detail).to.deep.equal(updated.body.detail);
    });

    it("are refused with a taken name, an unknown project or a Git repository", async () => {
      await newPipeline({ name: "taken" });
      const taken = await edge.call("POST", "/api/v1/pipelines", { body: { name: "taken" } });
      expect(taken.body).to.include({ code: 409, reason: "already_exists" });
      const other = await newPipeline();
      expect((await edge.call("PUT", at(other), { body: { name: "taken" } })).status).to.equal(409);
      for (const [field, value] of [
        ["repoUrl", "https://example.org/x.git"],
        ["projectId", "elsewhere"],
        ["saveMode", "pr"],
      ]) {
        const refused = await edge.call("POST", "/api/v1/pipelines", { body: { name: `r-${field}`, [field!]: value } });
        expect(refused.body).to.include({ code: 400, reason: "malformed_request" });
        expect(refused.body.errors[0].pointer).to.equal(`/${field}`);
      }
    });

    it("are 404 when unknown, for every operation on them", async () => {
      for (const [method, rest, body] of [
        ["GET", "", undefined],
        ["PUT", "", { name: "x" }],
        ["DELETE", "", undefined],
        ["GET", "/spec", undefined],
        ["POST", "/spec/validate", { spec: SPEC }],
        ["POST", "/spec/save", { spec: SPEC }],
        ["POST", "/trigger", {}],
        ["GET", "/runs", undefined],
      ] as const) {
        const answer = await edge.call(method, at("pl_unknown", rest), body === undefined ? {} : { body });
        expect(answer.body, `${method} ${rest}`).to.include({ code: 404, reason: "not_found" });
      }
    });

    it("are 404 for ids that are odd texts", async () => {
      for (const odd of ["%00", "%E0%A4%A", "..%2F..", "__proto__", "a".repeat(4_000), "%F0%9F%98%80"]) {
        expect((await edge.call("GET", at(odd))).status, odd).to.equal(404);
      }
    });

    it("are listed in pages, sorted and filtered", async () => {
      for (const name of ["list-b", "list-a", "list-c"]) await newPipeline({ name });
      const list = async (query: string) => {
        const { detail } = (await edge.call("GET", `/api/v1/pipelines?${query}`)).body;
        return { ...detail, names: detail.list.map(({ name }: { name: string }) => name) };
      };
      expect((await list("name=LIST-&sort=name")).names).to.deep.equal(["list-a", "list-b", "list-c"]);
      expect((await list("name=list-&sort=-createdAt")).names).to.deep.equal(["list-c", "list-a", "list-b"]);
      expect(await list("name=list-&sort=-name&page=2&pageSize=2")).to.deep.include({
        names: ["list-a"],
        total: 3,
        page: 2,
        pageSize: 2,
      });
      expect((await list("projectId=other")).total).to.equal(0);
      expect(await list("name=list-&status=pending&sort=name&pageSize=2")).to.deep.include({
        names: ["list-a", "list-b"],
        total: 3,
      });
      expect((await list("name=list-&status=running")).total).to.equal(0);
    });

    it("are deleted without a body in the answer", async () => {
      const pipelineId = await newPipeline();
      const answer = await edge.call("DELETE", at(pipelineId));
      expect(answer.status).to.equal(200);
      expect(answer.body).to.have.all.keys("code", "msg", "timestamp");
      expect((await edge.call("DELETE", at(pipelineId))).status).to.equal(404);
    });

    it("with live runs are deleted only with force, which stops the runs", async () => {
      const pipelineId = await newDefinedPipeline();
      const { runId } = (await edge.call("POST", at(pipelineId, "/trigger"))).body.detail;
      const refused = await edge.call("DELETE", at(pipelineId));
      expect(refused.body).to.include({ code: 409, reason: "conflict" });
      expect(refused.body.errMsg).to.include(runId).and.to.include("force=true");
      expect((await edge.call("DELETE", at(pipelineId, "?force=true"))).status).to.equal(200);
      expect(await edge.context.stores.inbox.pending(asId<RunId>(runId))).to.have.length(1);
    });
  });

  describe("definitions", () => {
    it("are answered with 200 by validate, with the position of each problem of a bad one", async () => {
      const pipelineId = await newPipeline();
      const validate = (body: object) => edge.call("POST", at(pipelineId, "/spec/validate"), { body });
      expect((await validate({ spec: SPEC })).body.detail).to.deep.equal({
        valid: true,
        diagnostics: [],
        jobsCount: 1,
        stepsCount: 1,
      });
      for (const format of ["json", "yaml", "yml"]) {
        const bad = await validate({ spec: BAD_SPEC, format });
        expect(bad.status).to.equal(200);
        expect(bad.body.detail).to.include({ valid: false, jobsCount: 0, stepsCount: 0 });
        expect(bad.body.detail.diagnostics.map(({ code }: { code: string }) => code)).to.include.members([
          "unknown-key",
          "unknown-job",
        ]);
        for (const diagnostic of bad.body.detail.diagnostics) expect(diagnostic.line).to.be.greaterThan(0);
      }
    });

    it("are refused without spec, in an unknown format, and in the removed field content", async () => {
      const pipelineId = await newPipeline();
      for (const operation of ["validate", "save"]) {
        const post = (body: object) => edge.call("POST", at(pipelineId, `/spec/${operation}`), { body });
        expect((await post({})).body.errors[0]).to.include({ pointer: "/spec" });
        expect((await post({ spec: "jobs: []" })).body.errors[0]).to.include({ pointer: "/spec" });
        expect((await post({ spec: SPEC, format: "toml" })).body.errors[0]).to.include({ pointer: "/format" });
        const removed = await post({ content: "jobs: []" });
        expect(removed.body).to.include({ code: 400, reason: "malformed_request" });
        expect(removed.body.errMsg).to.include("spec");
      }
    });

    it("are read back as saved, with text and head", async () => {
      const pipelineId = await newPipeline();
      const missing = await edge.call("GET", at(pipelineId, "/spec"));
      expect(missing.body).to.include({ code: 404, reason: "not_found" });
      const saved = await edge.call("POST", at(pipelineId, "/spec/save"), {
        body: { spec: SPEC, format: "yml", commitMessage: "first" },
      });
      const { headCommitSha } = saved.body.detail;
      const read = (await edge.call("GET", at(pipelineId, "/spec"))).body.detail;
      expect(read).to.deep.include({
        spec: SPEC,
        format: "yaml",
        headCommitSha,
        commitMessage: "first",
        editor: "admin",
      });
      expect(read.text).to.include("namespace: demo");
      expect((await edge.call("GET", at(pipelineId))).body.detail.headCommitSha).to.equal(headCommitSha);
    });

    it("with errors are refused with every problem, and change nothing", async () => {
      const pipelineId = await newDefinedPipeline();
      const before = (await edge.call("GET", at(pipelineId, "/spec"))).body.detail;
      const refused = await edge.call("POST", at(pipelineId, "/spec/save"), { body: { spec: BAD_SPEC } });
      expect(refused.body).to.include({ code: 400, reason: "invalid_definition" });
      expect(refused.body.errors.length).to.be.at.least(2);
      expect(refused.body.errors[0]).to.include.keys("code", "pointer", "message", "line", "column");
      expect((await edge.call("GET", at(pipelineId, "/spec"))).body.detail).to.deep.equal(before);
    });

    it("are saved only on the expected head, and a refusal names the current head", async () => {
      const pipelineId = await newPipeline();
      const save = (body: object) => edge.call("POST", at(pipelineId, "/spec/save"), { body });
      const first = (await save({ spec: SPEC })).body.detail.headCommitSha;
      const second = (await save({ spec: OTHER_SPEC, expectedHeadCommitSha: first })).body.detail.headCommitSha;
      expect(second).not.to.equal(first);
      const moved = await save({ spec: SPEC, expectedHeadCommitSha: first });
      expect(moved.body).to.include({ code: 409, reason: "head_moved" });
      expect(moved.body.errMsg).to.include(second);
    });

    it("are saved once when many saves expect the same head", async () => {
      const pipelineId = await newDefinedPipeline();
      const { headCommitSha } = (await edge.call("GET", at(pipelineId))).body.detail;
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          edge.call("POST", at(pipelineId, "/spec/save"), {
            body: { spec: { ...SPEC, version: `v${n}` }, expectedHeadCommitSha: headCommitSha },
          }),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      expect(answers.filter(({ status }) => status === 409)).to.have.length(7);
    });

    it("are all saved when 100 come at once and expect no head", async function () {
      this.timeout(30_000);
      const pipelineId = await newDefinedPipeline();
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, n) =>
          edge.call("POST", at(pipelineId, "/spec/save"), { body: { spec: { ...SPEC, version: `v${n}` } } }),
        ),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
      expect(new Set(answers.map(({ body }) => body.detail.headCommitSha)).size).to.equal(100);
      const head = (await edge.call("GET", at(pipelineId))).body.detail.headCommitSha;
      expect(answers.map(({ body }) => body.detail.headCommitSha)).to.include(head);
    });

    it("get the first answer for a repeated requestId, also after a later save, and 409 for another body", async () => {
      const pipelineId = await newPipeline();
      const save = (body: object) => edge.call("POST", at(pipelineId, "/spec/save"), { body });
      const first = await save({ spec: SPEC, requestId: "s1" });
      await save({ spec: OTHER_SPEC });
      const repeat = await save({ requestId: "s1", spec: SPEC });
      expect(repeat.body.detail).to.deep.equal(first.body.detail);
      expect((await edge.call("GET", at(pipelineId, "/spec"))).body.detail.spec).to.deep.equal(OTHER_SPEC);
      const other = await save({ spec: OTHER_SPEC, requestId: "s1" });
      expect(other.body).to.include({ code: 409, reason: "request_id_reused" });
    });
  });

  describe("triggers", () => {
    it("answer once the run is stored, whose first jobs are then on the board", async () => {
      const pipelineId = await newDefinedPipeline({ defaultBranch: "trunk" });
      const refOf = async (body?: object) => {
        const answer = await edge.call("POST", at(pipelineId, "/trigger"), body === undefined ? {} : { body });
        expect(answer.body.detail).to.include({ pipelineId, status: "pending", statusCode: 1 });
        const { runId } = answer.body.detail;
        await until("the offer", () =>
          edge.context.board
            .take({ labels: {} }, 1_000, 1)
            .then((offers) => offers.some((offer) => offer.runId === runId)),
        );
        const run = (await edge.call("GET", `/api/v1/pipelines/runs/${runId}`)).body.detail;
        return run.trigger.ref;
      };
      expect(await refOf()).to.equal("trunk");
      expect(await refOf({ variables: { ref: "v1", other: "x" } })).to.equal("v1");
      expect(await refOf({})).to.equal("trunk");
    });

    it("are accepted while no mailbox can be reached, since the owner's sweep finds the run", async () => {
      const pipelineId = await newDefinedPipeline();
      edge.mailboxesFail = true;
      const answer = await edge.call("POST", at(pipelineId, "/trigger"));
      edge.mailboxesFail = false;
      expect(answer.status).to.equal(200);
      const head = await edge.context.stores.aggregates.loadHead(answer.body.detail.runId);
      expect(head?.owed.map(({ effect }) => effect.type)).to.include("offer");
      expect(await edge.context.stores.aggregates.pageOwing(head!.shard, "", 10)).to.include(head!.rootId);
    });

    it("are refused for a pipeline without a definition, and for variables that are not strings", async () => {
      const pipelineId = await newPipeline();
      const undefinedYet = await edge.call("POST", at(pipelineId, "/trigger"));
      expect(undefinedYet.body).to.include({ code: 409, reason: "conflict" });
      expect(undefinedYet.body.errMsg).to.include("spec/save");
      const numbers = await edge.call("POST", at(pipelineId, "/trigger"), { body: { variables: { n: 1 } } });
      expect(numbers.body.errors[0]).to.include({ pointer: "/variables/n" });
      const large = { variables: { big: "x".repeat(1024 * 1024) } };
      const tooLarge = await edge.call("POST", at(pipelineId, "/trigger"), { body: large });
      expect(tooLarge.body).to.include({ code: 400, reason: "too_large" });
    });

    it("with the same requestId and body create one run, also when they are concurrent", async () => {
      const pipelineId = await newDefinedPipeline();
      const trigger = (body: object) => edge.call("POST", at(pipelineId, "/trigger"), { body });
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => trigger({ requestId: "t1", variables: { a: "1", b: "2" } })),
      );
      expect(new Set(answers.map(({ body }) => body.detail.runId)).size).to.equal(1);
      const repeat = await trigger({ variables: { b: "2", a: "1" }, requestId: "t1" });
      expect(repeat.body.detail).to.deep.equal(answers[0]!.body.detail);
      expect((await edge.call("GET", at(pipelineId, "/runs"))).body.detail.total).to.equal(1);
      const other = await trigger({ requestId: "t1", variables: { a: "2" } });
      expect(other.body).to.include({ code: 409, reason: "request_id_reused" });
    });

    it("tell the requestIds of two users and of two pipelines apart", async () => {
      const [one, two] = [await newDefinedPipeline(), await newDefinedPipeline()];
      const operator = await edge.userWithRole("operator");
      const ids = await Promise.all([
        edge.call("POST", at(one, "/trigger"), { body: { requestId: "same" } }),
        edge.call("POST", at(two, "/trigger"), { body: { requestId: "same" } }),
        edge.call("POST", at(one, "/trigger"), { body: { requestId: "same" }, token: operator.token }),
      ]);
      expect(new Set(ids.map(({ body }) => body.detail.runId)).size).to.equal(3);
    });

    it("finish an interrupted creation with the definition that it began with", async () => {
      const pipelineId = await newDefinedPipeline();
      const { aggregates } = edge.context.stores;
      const { create } = aggregates;
      aggregates.create = () => Promise.reject(new Error("the process dies here"));
      const cut = await edge.call("POST", at(pipelineId, "/trigger"), { body: { requestId: "cut" } });
      aggregates.create = create;
      expect(cut.status).to.equal(500);
      const before = (await edge.call("GET", at(pipelineId))).body.detail.headCommitSha;
      await edge.call("POST", at(pipelineId, "/spec/save"), { body: { spec: OTHER_SPEC } });
      const { runId } = (await edge.call("POST", at(pipelineId, "/trigger"), { body: { requestId: "cut" } })).body
        .detail;
      const run = (await edge.call("GET", `/api/v1/pipelines/runs/${runId}`)).body.detail;
      expect(run.commitSha).to.equal(before);
      expect((await edge.call("GET", at(pipelineId, "/runs"))).body.detail.total).to.equal(1);
    });
  });

  describe("identities", () => {
    it("in bodies must be the caller's own unless the token has act-as; both are recorded", async () => {
      const maintainer = await edge.userWithRole("maintainer");
      const body = { name: "claimed", createdBy: "ann" };
      const refused = await edge.call("POST", "/api/v1/pipelines", { body, token: maintainer.token });
      expect(refused.body).to.include({ code: 403, reason: "forbidden" });
      expect(refused.body.errMsg).to.include("createdBy").and.to.include("act-as");
      const acted = await edge.call("POST", "/api/v1/pipelines", { body });
      expect(acted.body.detail.createdBy).to.equal("ann");
      const stored = await edge.context.stores.pipelines.find(asId<PipelineId>(acted.body.detail.pipelineId));
      expect(stored).to.include({ createdBy: "ann", actor: "admin" });

      const pipelineId = await newDefinedPipeline();
      for (const [rest, field] of [
        ["/trigger", "triggeredBy"],
        ["/spec/save", "editor"],
      ] as const) {
        const spec = rest === "/trigger" ? {} : { spec: SPEC };
        const claim = (who: string) =>
          edge.call("POST", at(pipelineId, rest), { body: { ...spec, [field]: who }, token: maintainer.token });
        expect((await claim("ann")).status).to.equal(403);
        expect((await claim(maintainer.name)).status).to.equal(200);
      }
      const run = await edge.call("POST", at(pipelineId, "/trigger"), { body: { triggeredBy: "ann" } });
      const detail = (await edge.call("GET", `/api/v1/pipelines/runs/${run.body.detail.runId}`)).body.detail;
      expect(detail).to.include({ triggeredBy: "ann", actor: "admin" });
    });

    it("have the rights of their role", async () => {
      const pipelineId = await newDefinedPipeline();
      const { runId } = (await edge.call("POST", at(pipelineId, "/trigger"))).body.detail;
      const calls = {
        viewer: [
          ["GET", "/api/v1/pipelines", undefined],
          ["GET", at(pipelineId, "/runs"), undefined],
          ["POST", at(pipelineId, "/spec/validate"), { spec: SPEC }],
          ["GET", "/api/v1/agents", undefined],
        ],
        operator: [
          ["POST", at(pipelineId, "/trigger"), {}],
          ["POST", at(pipelineId, `/runs/${runId}/stop`), {}],
        ],
        maintainer: [
          ["PUT", at(pipelineId), {}],
          ["POST", at(pipelineId, "/spec/save"), { spec: SPEC }],
        ],
        admin: [
          ["GET", "/api/v1/users", undefined],
          ["POST", "/api/v1/agents/registration-tokens", { name: "t" }],
        ],
      } as const;
      const rising = ["viewer", "operator", "maintainer", "admin"] as const;
      for (const role of rising) {
        const { token } = await edge.userWithRole(role);
        for (const needed of rising) {
          for (const [method, path, body] of calls[needed]) {
            const { status } = await edge.call(method, path, body === undefined ? { token } : { token, body });
            const allowed = rising.indexOf(role) >= rising.indexOf(needed);
            expect(status, `${role}: ${method} ${path}`).to.equal(allowed ? 200 : 403);
          }
        }
      }
    });
  });
});
