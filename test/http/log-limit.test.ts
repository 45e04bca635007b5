import { expect } from "chai";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const PATH = "/api/v1/projects/default/log-limit";

describe("the log limit of a project over HTTP", () => {
  let edge: TestEdge;
  before(async () => (edge = await openTestEdge()));
  after(() => edge.close());

  const put = (body: unknown) => edge.call("PUT", PATH, { body });

  it("is that of the installation until a project sets bounds of it", async () => {
    const installation = { projectId: "default", lines: 1_000_000, bytes: 100_000_000, own: [] };
    expect((await edge.call("GET", PATH)).body.detail).to.deep.equal(installation);
    const set = await put({ lines: 5_000 });
    expect(set.status).to.equal(200);
    expect(set.body.detail).to.deep.equal({ ...installation, lines: 5_000, own: ["lines"] });
    expect((await edge.call("GET", PATH)).body.detail).to.deep.equal(set.body.detail);
    expect((await put({ bytes: 250_000_000 })).body.detail).to.deep.equal({
      ...installation,
      bytes: 250_000_000,
      own: ["bytes"],
    });
    expect((await put({})).body.detail).to.deep.equal(installation);
  });

  it("stays unchanged when a change has problems, which are all named", async () => {
    const refused = await put({ lines: 0, bytes: "100MB", files: 1 });
    expect(refused.status).to.equal(400);
    const pointers = refused.body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).to.have.members(["/lines", "/bytes", "/files"]);
    expect((await edge.call("GET", PATH)).body.detail.own).to.deep.equal([]);
  });

  it("needs an administrator and a known project", async () => {
    const { token } = await edge.userWithRole("maintainer");
    for (const method of ["GET", "PUT"]) {
      const body = method === "PUT" ? { body: {} } : {};
      expect((await edge.call(method, PATH, { token, ...body })).status).to.equal(403);
      expect((await edge.call(method, "/api/v1/projects/none/log-limit", body)).status).to.equal(404);
    }
  });
});
