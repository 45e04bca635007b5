/** What ends connections and downloads over HTTP and WebSocket that are open when rights are taken away. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { expect } from "chai";
import { PIECE_BYTES } from "../../src/domain/artifacts.ts";
import { artifactIdOf, asId, newId, type RunId } from "../../src/domain/ids.ts";
import { OPEN_AFTER_EXPIRY_SECONDS, signAccessToken } from "../../src/app/identity/access-tokens.ts";
import { issueToken, tokenIdOf } from "../../src/app/identity/tokens.ts";
import type { StepState } from "../../actors/step/state.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { TestEventStream } from "../support/event-stream.ts";
import { planOf } from "../support/plans.ts";
import { storeRun } from "../support/stored-runs.ts";
import { changeStoredUser } from "../support/stored-users.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

const CHECK_MS = 40;
const ARTIFACT_BYTES = 48 * 1024 * 1024;

describe("rights that are taken away while a connection is open", () => {
  let edge: TestEdge;
  before(async () => void (edge = await openTestEdge({ sessionCheckMs: CHECK_MS })));
  after(() => edge.close());
  afterEach(() => void (edge.skewMs = 0));

  const open = async (token: string) => {
    const viewer = await TestViewer.open({ port: edge.port, adminToken: token });
    return { viewer, closed: once(viewer.socket, "close") as Promise<[number, Buffer]> };
  };
  /** Resolves when every open connection was checked at least once more. */
  const afterChecks = async (): Promise<void> => {
    const { identity } = edge.context.stores;
    const { findProof, findUser } = identity;
    let checks = 0;
    // A check reads a token with its user, or the user of an access token.
    identity.findProof = (tokenId) => {
      checks++;
      return findProof(tokenId);
    };
    identity.findUser = (userId) => {
      checks++;
      return findUser(userId);
    };
    await until("two checks", () => checks >= 4).finally(() => Object.assign(identity, { findProof, findUser }));
  };

  it("ends with code 4401 when its token is deleted, and other tokens of the user stay", async () => {
    const user = await edge.userWithRole("viewer");
    const deleted = await open(user.token);
    const userId = (await edge.context.stores.identity.findUserByName(user.name))!.userId;
    const other = await open(await issueToken(edge.context, { kind: "personal", subject: userId, name: "other" }));
    const path = `/api/v1/users/me/tokens/${tokenIdOf(user.token)}`;
    expect((await edge.call("DELETE", path, { token: user.token })).status).to.equal(200);
    const [code, reason] = await deleted.closed;
    expect(code).to.equal(4401);
    expect(reason.toString()).to.match(/^unauthenticated: the token is revoked/);
    await afterChecks();
    expect(other.viewer.socket.readyState).to.equal(other.viewer.socket.OPEN);
    await other.viewer.close();
  });

  it("ends with code 4401 when its user is disabled or its token expires", async () => {
    const user = await edge.userWithRole("viewer");
    const disabled = await open(user.token);
    changeStoredUser(edge.storePath, user.name, { disabled: true });
    expect((await disabled.closed)[0]).to.equal(4401);
    const { userId } = (await edge.context.stores.identity.findUserByName("admin"))!;
    const request = { kind: "personal", subject: userId, name: "short", expiresInMs: 60_000 } as const;
    const expiring = await open(await issueToken(edge.context, request));
    edge.skewMs = 61_000;
    expect((await expiring.closed)[0]).to.equal(4401);
  });

  it("ends with code 4403 when its user gets a lower role, so that the next one has the lower rights", async () => {
    const user = await edge.userWithRole("maintainer");
    const lowered = await open(user.token);
    changeStoredUser(edge.storePath, user.name, { role: "viewer" });
    const [code, reason] = await lowered.closed;
    expect(code).to.equal(4403);
    expect(reason.toString()).to.match(/^forbidden: .* connect again$/);
    const again = await open(user.token);
    await afterChecks();
    expect(again.viewer.socket.readyState).to.equal(again.viewer.socket.OPEN);
    await again.viewer.close();
  });

  it("ends the feeds of a user who has lost the role in a project, and the next one shows none of its runs", async () => {
    const userId = newId("usr");
    const name = `member-${userId.slice(-6)}`;
    const { identity } = edge.context.stores;
    await identity.createUser({ userId, name, role: null, passwordHash: "", createdAt: 0, disabled: false });
    const token = await issueToken(edge.context, { kind: "personal", subject: userId, name: "test" });
    const path = `/api/v1/projects/default/members/${userId}`;
    expect((await edge.call("PUT", path, { body: { role: "viewer" } })).status).to.equal(200);
    const run = await storeRun(edge.context, planOf([[{}]]));
    const { viewer, closed } = await open(token);
    viewer.send({ channel: "channel_runs", params: {} });
    await viewer.next("caughtUp");
    const shown = (of: TestViewer) => of.ofType("run").map(({ data }) => data.runId);
    expect(shown(viewer)).to.include(run.runId);
    const stream = await TestEventStream.open(edge, "/live/runs", { authorization: `Bearer ${token}` });
    await stream.next("caughtUp");
    expect((await edge.call("DELETE", path)).status).to.equal(200);
    expect((await closed)[0]).to.equal(4403);
    await stream.ended;
    const again = await open(token);
    again.viewer.send({ channel: "channel_runs", params: {} });
    const answer = await until("an answer", () =>
      again.viewer.received.find(({ type }) => type === "caughtUp" || type === "error"),
    );
    expect(answer.type).to.be.oneOf(["caughtUp", "error"]);
    expect(shown(again.viewer)).to.deep.equal([]);
    await again.viewer.close();
  });

  it("ends the log of system events for a user who is administrator no more", async () => {
    const user = await edge.userWithRole("admin");
    const request = { channel: "channel_system", params: { log: "installation" } };
    const { viewer, closed } = await open(user.token);
    viewer.send(request);
    await viewer.next("caughtUp");
    const headers = { authorization: `Bearer ${user.token}` };
    const stream = await TestEventStream.open(edge, "/live/system?log=installation", headers);
    await stream.next("caughtUp");
    changeStoredUser(edge.storePath, user.name, { role: "viewer" });
    expect((await closed)[0]).to.equal(4403);
    await stream.ended;
    const again = await open(user.token);
    again.viewer.send(request);
    expect((await again.viewer.next("error")).error).to.include("needs the role admin");
    await again.viewer.close();
  });

  it("stays open for hours after its access token has expired, and not indefinitely", async () => {
    const { userId } = (await edge.context.stores.identity.findUserByName("admin"))!;
    const token = await signAccessToken(edge.context, userId);
    const { viewer, closed } = await open(token);
    edge.skewMs = 2 * 3_600_000;
    await afterChecks();
    expect(viewer.socket.readyState).to.equal(viewer.socket.OPEN);
    expect((await edge.call("GET", "/api/v1/pipelines", { token })).status, "no new call").to.equal(401);
    edge.skewMs = OPEN_AFTER_EXPIRY_SECONDS * 1_000 + 3_600_000;
    expect((await closed)[0]).to.equal(4401);
  });

  it("stays open while the store cannot be read", async () => {
    const user = await edge.userWithRole("viewer");
    const { viewer } = await open(user.token);
    const { identity } = edge.context.stores;
    const find = identity.findProof;
    let failures = 0;
    identity.findProof = () => {
      failures++;
      return Promise.reject(new Error("the store cannot be reached"));
    };
    await until("three failed checks", () => failures >= 3).finally(() => (identity.findProof = find));
    expect(viewer.socket.readyState).to.equal(viewer.socket.OPEN);
    await viewer.close();
  });

  it("cuts a download off whose token is deleted, and lets others end", async () => {
    const { runId, artifactId } = await keepLargeArtifact(edge);
    const user = await edge.userWithRole("viewer");
    const url = `${edge.origin}/api/v1/pipelines/runs/${runId}/artifacts/${artifactId}/content`;
    const download = async (token: string): Promise<IncomingMessage> => {
      const [response] = await once(
        get(url, { headers: { authorization: `Bearer ${token}` }, agent: false }),
        "response",
      );
      return response as IncomingMessage;
    };
    const revoked = await download(user.token);
    const kept = await download(edge.adminToken);
    await edge.context.stores.identity.deleteToken(tokenIdOf(user.token));
    const cut = once(revoked, "error") as Promise<[NodeJS.ErrnoException]>;
    await until("the connection is cut", () => revoked.socket.destroyed || (revoked.read(), revoked.errored !== null));
    revoked.resume();
    expect((await cut)[0].code).to.equal("ECONNRESET");
    expect(revoked.complete).to.equal(false);
    let bytes = 0;
    for await (const chunk of kept) bytes += (chunk as Buffer).length;
    expect(bytes).to.equal(ARTIFACT_BYTES);
  });
});

/** An artifact that is larger than what the buffers of a connection hold. */
async function keepLargeArtifact(edge: TestEdge): Promise<{ readonly runId: RunId; readonly artifactId: string }> {
  const { body } = await edge.call("POST", "/api/v1/pipelines", { body: { name: "keeps" } });
  const path = `/api/v1/pipelines/${body.detail.pipelineId}`;
  const spec = { jobs: [{ name: "build", steps: [{ name: "compile", uses: "shell", args: { script: "true" } }] }] };
  await edge.call("POST", `${path}/spec/save`, { body: { spec } });
  const triggered = await edge.call("POST", `${path}/trigger`, { body: {} });
  const runId = asId<RunId>(triggered.body.detail.runId);
  const { artifacts, blobs, aggregates } = edge.context.stores;
  const { actors } = (await aggregates.load(runId))!;
  const { stepRunId } = actors.find(({ kind }) => kind === "step")!.state as StepState;
  const artifactId = artifactIdOf(runId, stepRunId, 1, "large");
  const content = Buffer.alloc(ARTIFACT_BYTES, "x");
  const sha256 = createHash("sha256").update(content).digest("hex");
  const files = [{ path: "large.bin", sizeBytes: content.length, sha256, executable: false }];
  const now = Date.now();
  const times = { createdAt: now, storedAt: null, expiresAt: now + 60_000 };
  const sizes = { sizeBytes: content.length, fileCount: 1, files };
  const record = { artifactId, runId, stepRunId, token: 1, name: "large", ...times, ...sizes };
  await artifacts.begin({ ...record, state: "uploading" }, Infinity);
  for (let at = 0; at < content.length; at += PIECE_BYTES) {
    await blobs.put(artifactId, at, content.subarray(at, at + PIECE_BYTES));
  }
  await blobs.complete(artifactId, content.length);
  await artifacts.store(artifactId, now, now + 60_000);
  return { runId, artifactId };
}
