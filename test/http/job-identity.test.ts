/** The identity of running jobs: the tokens in their dispatches, and what they open here and elsewhere. */
import { expect } from "chai";
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from "jose";
import { subjectOf } from "../../src/app/identity/id-tokens.ts";
import { jobEnvironment } from "../../src/app/identity/job-tokens.ts";
import { AHEAD_MS, currentKey, KEPT_MS, KEY_MS, publishedKeys } from "../../src/app/identity/token-keys.ts";
import { asId, newId } from "../../src/domain/ids.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import type { JobPermissions } from "../../src/domain/plan.ts";
import { DispatchBuilder } from "../../src/gateway/dispatch-builder.ts";
import { SecretHandout } from "../../src/gateway/secret-handout.ts";
import { fixedKeys, masterKey } from "../../src/secrets/master-keys.ts";
import { resealTokenKeys } from "../../src/secrets/rotation.ts";
import { SecretVault } from "../../src/secrets/vault.ts";
import { StoredRun } from "../grpc/stored-run.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { LOG_LIMIT } from "../support/log-limit.ts";

const ALL: JobPermissions = { idToken: true, api: "read", environment: "production" };
const AUDIENCE = "sts.cloud.example";

describe("the identity of a job", () => {
  let edge: TestEdge;
  before(async () => {
    edge = await openTestEdge();
    Object.assign(edge.context, { publicUrl: edge.origin });
  });
  after(() => edge.close());
  afterEach(() => (edge.skewMs = 0));

  /** The dispatch of a running job, as the gateway makes it. */
  async function dispatched(
    permissions: JobPermissions | undefined,
    { publicUrl = edge.origin, refusal = "", jobEnv = [] as Pairs<string> } = {},
  ) {
    const { stores } = edge.context;
    const more = { ...(permissions && { permissions }), ...(jobEnv.length > 0 && { env: jobEnv }) };
    const run = await StoredRun.create(stores, [{}, {}], more);
    for (const job of [0, 1]) {
      await run.grant({ agentId: newId("agt"), bootId: "b", token: 1, requestId: `r${job}` }, "running", job);
    }
    const refused: string[] = [];
    const builder = new DispatchBuilder({
      stores,
      secrets: edge.context.secrets,
      logLimits: { of: () => Promise.resolve(LOG_LIMIT) },
      handout: { refusal: () => Promise.resolve(refusal === "" ? undefined : refusal) },
      identity: {
        allowed: (projectId, asked) => new SecretHandout(edge.context).allowed(projectId, asked),
        ...edge.context,
        ...(publicUrl === "" ? { publicUrl: undefined as never } : { publicUrl }),
      },
      onRefused: (_, reason) => Promise.resolve(void refused.push(reason)),
    });
    const dispatch = await builder.build(run.grantedStep());
    const env = Object.fromEntries(dispatch?.env ?? []);
    return { run, dispatch, env, refused };
  }

  const request = (token: string, body: object = { audience: AUDIENCE }) =>
    edge.call("POST", "/api/v1/id-token", { token, body });
  async function tokenOf(env: Record<string, string>, body?: object): Promise<string> {
    const { status, body: answer } = await request(env["MILLRACE_ID_TOKEN_REQUEST_TOKEN"]!, body);
    expect(status, JSON.stringify(answer)).to.equal(200);
    return answer.detail.token;
  }
  const end = (run: StoredRun) => run.change({ job: 0, state: { state: "success", grant: null } });

  /** As a cloud verifies a token, which knows the address of this installation only. */
  async function verify(token: string, audience = AUDIENCE) {
    const found = await fetch(`${edge.origin}/.well-known/openid-configuration`);
    expect(found.headers.get("cache-control")).to.match(/^public, max-age=\d+$/);
    const { issuer, jwks_uri: keys } = (await found.json()) as { issuer: string; jwks_uri: string };
    expect(issuer).to.equal(edge.origin);
    const options = { issuer, audience, algorithms: ["RS256"], currentDate: new Date(Date.now() + edge.skewMs) };
    return (await jwtVerify(token, createRemoteJWKSet(new URL(keys)), options)).payload;
  }
  const refusalOf = async (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => "none",
      (error: { code?: string }) => error.code ?? "no code",
    );

  describe("an identity token", () => {
    it("is verified by the live discovery document, and says which job asked", async () => {
      const { run, env } = await dispatched(ALL);
      expect(env["MILLRACE_ID_TOKEN_REQUEST_URL"]).to.equal(`${edge.origin}/api/v1/id-token`);
      const claims = await verify(await tokenOf(env));
      const { iat, exp, nbf, jti, ...rest } = claims;
      expect(rest).to.deep.equal({
        iss: edge.origin,
        aud: AUDIENCE,
        sub: "tenant:default:project:default:pipeline:pl_TEST:environment:production",
        tenant_id: "default",
        project_id: "default",
        pipeline_id: "pl_TEST",
        ref: "main",
        revision: "rev_1",
        trigger: "manual",
        run_id: run.runId,
        run_attempt: 1,
        job_id: run.jobId(0),
        job: "job-0",
        environment: "production",
      });
      expect(exp! - iat!).to.equal(600);
      expect(nbf!).to.be.at.most(iat!);
      expect(jti).to.not.equal((await verify(await tokenOf(env))).jti);
    });

    it("is for this installation unless the job names an audience, and no other verifier takes it", async () => {
      const { env } = await dispatched(ALL);
      expect(await verify(await tokenOf(env, {}), edge.origin)).to.include({ aud: edge.origin });
      expect(await refusalOf(verify(await tokenOf(env), "another.example"))).to.equal(
        "ERR_JWT_CLAIM_VALIDATION_FAILED",
      );
      expect((await request(env["MILLRACE_ID_TOKEN_REQUEST_TOKEN"]!, { audience: "" })).status).to.equal(400);
    });

    it("has a subject in which no ref can look like an environment", () => {
      const of = {
        tenantId: asId("default"),
        projectId: asId("p"),
        pipelineId: asId("pl"),
        environment: null,
      } as never;
      const subject = (ref: string) => subjectOf({ ...(of as object), ref } as never);
      expect(subject("refs/heads/main")).to.equal("tenant:default:project:p:pipeline:pl:ref:refs/heads/main");
      expect(subject("x:environment:production")).to.equal(
        "tenant:default:project:p:pipeline:pl:ref:x%3Aenvironment%3Aproduction",
      );
      expect(subject("a%3Ab")).to.not.equal(subject("a:b"));
    });

    it("that was changed, or has no signature, is refused by verifiers", async () => {
      const { env } = await dispatched(ALL);
      const [header, payload, signature] = (await tokenOf(env)).split(".");
      const none = Buffer.from('{"alg":"none"}').toString("base64url");
      const other = Buffer.from(JSON.stringify({ ...decodeJwt(`${header}.${payload}.`), sub: "x" })).toString(
        "base64url",
      );
      expect(await refusalOf(verify(`${none}.${payload}.`))).to.equal("ERR_JOSE_ALG_NOT_ALLOWED");
      expect(await refusalOf(verify(`${header}.${other}.${signature}`))).to.equal(
        "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
      );
    });

    it("opens nothing of this installation", async () => {
      const { env } = await dispatched(ALL);
      const token = await tokenOf(env, {});
      for (const path of ["/api/v1/pipelines", "/api/v1/whoami"]) {
        expect((await edge.call("GET", path, { token })).status, path).to.equal(401);
      }
    });

    it("is given to the job of the request token, while it runs", async () => {
      const [one, other] = [await dispatched(ALL), await dispatched(ALL)];
      const token = one.env["MILLRACE_ID_TOKEN_REQUEST_TOKEN"]!;
      expect(decodeJwt(await tokenOf(one.env))["job_id"]).to.equal(one.run.jobId(0));
      expect(decodeJwt(await tokenOf(other.env))["job_id"]).to.equal(other.run.jobId(0));
      await end(one.run);
      expect((await request(token)).status).to.equal(401);
      expect((await request(other.env["MILLRACE_ID_TOKEN_REQUEST_TOKEN"]!)).status).to.equal(200);
    });

    it("is given for no other token", async () => {
      const { env } = await dispatched(ALL);
      const requestToken = env["MILLRACE_ID_TOKEN_REQUEST_TOKEN"]!;
      const [header, payload, signature] = requestToken.split(".");
      const none = Buffer.from('{"alg":"none"}').toString("base64url");
      const stolen = { ...decodeJwt(requestToken), sub: (await dispatched(ALL)).run.jobId(0) };
      const changed = Buffer.from(JSON.stringify(stolen)).toString("base64url");
      for (const token of [`${none}.${payload}.`, `${header}.${changed}.${signature}`, `${header}.${payload}.`]) {
        expect((await request(token)).status, token).to.equal(401);
      }
      const { signingKey } = edge.context;
      const { aud: _aud, ...ofJob } = decodeJwt(env["MILLRACE_TOKEN"]!);
      const foreign = await new SignJWT({ ...ofJob, aud: "another-use" })
        .setProtectedHeader({ alg: "HS256" })
        .sign(signingKey);
      expect((await edge.call("GET", "/api/v1/pipelines", { token: foreign })).status, "another use").to.equal(401);
      expect((await edge.call("GET", "/api/v1/pipelines", { token: env["MILLRACE_TOKEN"]! })).status).to.equal(200);
      expect((await request(edge.adminToken)).status, "of an administrator").to.equal(403);
      expect((await request(env["MILLRACE_TOKEN"]!)).status, "the job's token for the API").to.equal(403);
      expect((await edge.call("GET", "/api/v1/pipelines", { token: requestToken })).status).to.equal(403);
    });
  });

  describe("the job's own token for the API", () => {
    const withApi = async (api: JobPermissions["api"]) => {
      const { run, env } = await dispatched({ idToken: false, api, environment: null });
      expect(env["MILLRACE_API_URL"]).to.equal(`${edge.origin}/api/v1`);
      expect(env).to.not.have.property("MILLRACE_ID_TOKEN_REQUEST_TOKEN");
      const token = env["MILLRACE_TOKEN"]!;
      const status = async (method: string, path: string, body?: object) =>
        (await edge.call(method, `/api/v1${path}`, { token, ...(body && { body }) })).status;
      return { run, status };
    };

    it("reads the project of the job, until the job ends", async () => {
      const { run, status } = await withApi("read");
      expect(await status("GET", "/pipelines")).to.equal(200);
      expect(await status("GET", `/pipelines/runs/${run.runId}`)).to.equal(200);
      await end(run);
      expect(await status("GET", "/pipelines")).to.equal(401);
    });

    it("reads the project of a job that may ask for identity tokens and says nothing else", async () => {
      const { run, env } = await dispatched({ idToken: true, api: null, environment: null });
      const status = async (method: string, path: string, body?: object) =>
        (await edge.call(method, `/api/v1${path}`, { token: env["MILLRACE_TOKEN"]!, ...(body && { body }) })).status;
      expect(await status("GET", `/pipelines/runs/${run.runId}`)).to.equal(200);
      expect(await status("POST", "/pipelines", { name: newId("pl") })).to.equal(403);
      const none = (await dispatched({ idToken: true, api: "none", environment: null })).env;
      expect(none).to.have.property("MILLRACE_ID_TOKEN_REQUEST_TOKEN");
      expect(none).to.not.have.any.keys("MILLRACE_TOKEN", "MILLRACE_API_URL");
      const own = (
        await dispatched({ idToken: true, api: null, environment: null }, { jobEnv: [["MILLRACE_TOKEN", "own"]] })
      ).env;
      expect(own).to.include({ MILLRACE_TOKEN: "own" }).and.not.have.property("MILLRACE_API_URL");
    });

    it("does what its word says, and nothing beyond its project", async () => {
      const { detail } = (await edge.call("POST", "/api/v1/projects", { body: { name: newId("prj") } })).body;
      const elsewhere = (
        await edge.call("POST", "/api/v1/pipelines", { body: { name: "e", projectId: detail.projectId } })
      ).body.detail.pipelineId;
      const spec = { jobs: [{ name: "a", steps: [{ uses: "shell", args: { script: "true" } }] }] };
      const own = (await edge.call("POST", "/api/v1/pipelines", { body: { name: newId("pl") } })).body.detail
        .pipelineId;
      await edge.call("POST", `/api/v1/pipelines/${own}/spec/save`, { body: { spec } });
      for (const [word, mayTrigger, mayWrite] of [
        ["read", 403, 403],
        ["trigger", 200, 403],
        ["write", 200, 200],
      ] as const) {
        const { status } = await withApi(word);
        expect(await status("POST", `/pipelines/${own}/trigger`, {}), word).to.equal(mayTrigger);
        expect(await status("POST", "/pipelines", { name: newId("pl") }), word).to.equal(mayWrite);
        for (const pipelineId of [elsewhere, newId("pl")]) {
          expect(await status("GET", `/pipelines/${pipelineId}`), word).to.equal(404);
        }
        for (const path of ["/users", "/whoami", "/tenants/default", "/users/me/tokens"]) {
          expect(await status("GET", path), `${word}: ${path}`).to.equal(403);
        }
        expect(await status("GET", "/projects/default/secrets"), word).to.equal(403);
        expect(await status("POST", "/auth/tickets", {}), word).to.equal(403);
      }
    });
  });

  describe("in the dispatch", () => {
    it("is among the secrets, which agents mask in logs", async () => {
      const { dispatch, env } = await dispatched(ALL);
      expect(dispatch!.secrets).to.have.members([env["MILLRACE_TOKEN"], env["MILLRACE_ID_TOKEN_REQUEST_TOKEN"]]);
    });

    it("is not there without permissions, nor for a run that an event made", async () => {
      expect(Object.keys((await dispatched(undefined)).env)).to.not.include.members(["MILLRACE_TOKEN"]);
      const job = { runId: newId("run"), jobId: asId<never>("job_1") };
      const origin = { trigger: { kind: "event", ref: "refs/pull/1" } } as const;
      expect(await jobEnvironment(edge.context, job, ALL, origin, edge.origin)).to.deep.equal({ env: [], secrets: [] });
    });

    it("fails the step with a reason where there is no public address, and on an agent that gets no secrets", async () => {
      const without = await dispatched(ALL, { publicUrl: "" });
      expect(without.dispatch).to.equal(undefined);
      expect(without.refused.join()).to.include("set MILLRACE_PUBLIC_URL");
      const distrusted = await dispatched(ALL, { refusal: "it fails trusted" });
      expect([distrusted.dispatch, distrusted.refused]).to.deep.equal([undefined, ["it fails trusted"]]);
    });
  });

  describe("the keys", () => {
    /** The context of another edge on the same store, or of this one after a restart. */
    const anotherEdge = () => {
      const { stores } = edge.context;
      return { ...edge.context, stores: { ...stores, documents: { ...stores.documents } } };
    };
    const kids = async () => {
      const { keys } = (await (await fetch(`${edge.origin}/.well-known/jwks.json`)).json()) as {
        keys: { kid: string }[];
      };
      expect(JSON.stringify(keys)).to.not.match(/"d"|sealed|PRIVATE/);
      return keys.map(({ kid }) => kid);
    };
    const kidOf = (token: string) => decodeProtectedHeader(token).kid;

    it("are the same for all edges and after a restart", async () => {
      const { env } = await dispatched(ALL);
      const kid = kidOf(await tokenOf(env));
      const others = await Promise.all([currentKey(anotherEdge()), currentKey(anotherEdge())]);
      expect(others.map((key) => key.kid)).to.deep.equal([kid, kid]);
    });

    it("have one winner when several edges make a successor at once", async () => {
      const before = await kids();
      edge.skewMs = KEY_MS + 1_000;
      const found = await Promise.all(Array.from({ length: 4 }, () => publishedKeys(anotherEdge())));
      for (const keys of found) expect(keys).to.deep.equal(found[0]);
      expect(found[0]).to.have.length(before.length + 1);
    });

    it("are published before they sign, and until the last token of theirs has expired", async () => {
      edge.skewMs = KEY_MS + 2_000;
      const [old, young] = (await kids()).slice(-2);
      const { env } = await dispatched(ALL);
      const before = await tokenOf(env);
      expect(kidOf(before), "the successor is not known to all yet").to.equal(old);
      edge.skewMs += AHEAD_MS;
      const after = await tokenOf(env);
      expect(kidOf(after)).to.equal(young);
      await verify(after);
      expect(await kids()).to.include(old);
      expect(await refusalOf(verify(before)), "an hour old").to.equal("ERR_JWT_EXPIRED");
      edge.skewMs += KEPT_MS;
      expect(await kids())
        .to.include(young)
        .and.not.include(old);
      expect(await refusalOf(verify(before))).to.equal("ERR_JWKS_NO_MATCHING_KEY");
    });

    it("are sealed in the store, and stay when the master key changes", async () => {
      const { stores } = edge.context;
      const { env } = await dispatched(ALL);
      const kid = kidOf(await tokenOf(env));
      const [before] = await stores.documents.find("tokenKeys", ["installation"]);
      expect(JSON.stringify(before)).to.not.include("PRIVATE");
      const former = masterKey(new Uint8Array(32).fill(7));
      const next = masterKey(new Uint8Array(32).fill(8));
      const count = before!.body.keys.length;
      expect(await resealTokenKeys(stores.documents, fixedKeys([next, former]))).to.equal(count);
      expect(await resealTokenKeys(stores.documents, fixedKeys([next, former])), "again").to.equal(0);
      const vault = new SecretVault({ store: stores.secrets, keys: fixedKeys([next]), clock: edge.context.clock });
      expect((await currentKey({ ...anotherEdge(), secrets: vault })).kid).to.equal(kid);
      expect(await resealTokenKeys(stores.documents, fixedKeys([former, next])), "back").to.equal(count);
    });

    it("are not there without a public address", async () => {
      const { publicUrl } = edge.context;
      Object.assign(edge.context, { publicUrl: undefined });
      for (const path of ["/.well-known/openid-configuration", "/.well-known/jwks.json"]) {
        const { status, body } = await edge.call("GET", path, { token: null });
        expect([status, body.reason]).to.deep.equal([404, "not_found"]);
      }
      Object.assign(edge.context, { publicUrl });
    });
  });
});
