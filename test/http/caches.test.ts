import { expect } from "chai";
import { cacheBlobIdOf, cacheIdOf, asId, newId, type CacheId, type ProjectId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const DEFAULT = asId<ProjectId>("default");

describe("caches over HTTP", () => {
  let edge: TestEdge;
  before(async () => void (edge = await openTestEdge()));
  after(() => edge.close());

  const at = (rest = "", projectId: string = DEFAULT) => `/api/v1/projects/${projectId}/caches${rest}`;
  /** Stores cache entries as a gateway does. */
  const keep = async (key: string, usedAt: number, projectId = DEFAULT): Promise<CacheId> => {
    const { caches, blobs } = edge.context.stores;
    const cacheId = cacheIdOf(projectId, "v1", key);
    const runId = newId("run");
    const blobId = cacheBlobIdOf(cacheId, newId("step"), 1, "ab");
    const times = { createdAt: usedAt, usedAt, expiresAt: usedAt + 3_600_000 };
    const record = { cacheId, projectId, key, version: "v1", runId, blobId, sizeBytes: 3, sha256: "ab", ...times };
    await caches.begin({ ...record, state: "uploading" });
    await blobs.put(blobId, 0, Buffer.from("abc"));
    await blobs.complete(blobId, 3);
    await caches.store(record, usedAt, times.expiresAt);
    return cacheId;
  };
  const keysOf = async (query = "") =>
    (await edge.call("GET", at(query))).body.detail.list.map(({ key }: { key: string }) => key);

  it("lists cache entries, the last used first", async () => {
    const cacheId = await keep("npm-1", Date.parse("2026-01-02T03:04:05.000Z"));
    await keep("go-1", Date.parse("2026-01-02T03:04:06.000Z"));
    await keep("npm-2", Date.parse("2026-01-02T03:04:04.000Z"));
    await keep("theirs", Date.parse("2026-01-02T03:04:04.000Z"), newId("prj"));
    const { detail } = (await edge.call("GET", at())).body;
    expect(detail).to.include({ total: 3, page: 1 });
    expect(detail.list.map(({ key }: { key: string }) => key)).to.deep.equal(["go-1", "npm-1", "npm-2"]);
    const { runId, ...entry } = detail.list[1];
    expect(runId).to.match(/^run_/);
    expect(entry).to.deep.equal({
      cacheId,
      projectId: "default",
      key: "npm-1",
      size: 3,
      sha256: "ab",
      createdAt: "2026-01-02T03:04:05.000Z",
      lastUsedAt: "2026-01-02T03:04:05.000Z",
      expiresAt: "2026-01-02T04:04:05.000Z",
    });
    expect(await keysOf("?prefix=npm-")).to.deep.equal(["npm-1", "npm-2"]);
    expect(await keysOf("?page=2&pageSize=2")).to.deep.equal(["npm-2"]);
    expect((await edge.call("GET", at("?what=1"))).status).to.equal(400);
    expect((await edge.call("GET", at("", "prj_none"))).status).to.equal(404);
  });

  it("deletes an entry with its content, or all entries whose keys have a prefix", async () => {
    const { caches, blobs } = edge.context.stores;
    const [one] = await Promise.all(["del-1", "del-2", "del-3"].map((key, index) => keep(key, 1_000 + index)));
    const { blobId } = (await caches.find(one!))!;
    expect((await edge.call("DELETE", at(`/${one}`))).status).to.equal(200);
    expect(await caches.find(one!)).to.equal(undefined);
    expect(await blobs.storedBytes(blobId)).to.equal(0);
    expect((await edge.call("DELETE", at(`/${one}`))).status, "again").to.equal(404);
    expect((await edge.call("DELETE", at())).status, "all of them, by accident").to.equal(400);
    expect((await edge.call("DELETE", at("?prefix=del-"))).body.detail).to.deep.equal({ deleted: 2 });
    expect(await keysOf("?prefix=del-")).to.deep.equal([]);
    expect(await keysOf("?prefix=npm-")).to.have.length(2);
  });

  it("lets only users delete who may change definitions, and only entries of the named project", async () => {
    const cacheId = await keep("mine", 1_000);
    const [viewer, operator, maintainer] = await Promise.all(
      (["viewer", "operator", "maintainer"] as const).map((role) => edge.userWithRole(role)),
    );
    expect((await edge.call("GET", at(), { token: viewer!.token })).status).to.equal(200);
    expect((await edge.call("DELETE", at(`/${cacheId}`), { token: operator!.token })).status).to.equal(403);
    expect((await edge.call("DELETE", at("?prefix=mine"), { token: operator!.token })).status).to.equal(403);
    expect((await edge.call("DELETE", at(`/${cacheId}`, "prj_none"))).status).to.equal(404);
    expect((await edge.call("DELETE", at(`/${cacheId}`), { token: maintainer!.token })).status).to.equal(200);
  });
});
