/** The plugin registry over HTTP, and the diagnostics of definitions that use its plugins. */
import { createHash } from "node:crypto";
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import { type Answer, openTestEdge, type TestEdge } from "../support/edge.ts";
import { fileOf, greeter, packageOf, rawPackage } from "../support/plugin-packages.ts";
import { writePackage } from "../../src/plugins/package.ts";

describe("the plugin registry", () => {
  let edge: TestEdge;
  let tokens: Record<"viewer" | "maintainer", string>;
  before(async () => {
    edge = await openTestEdge();
    tokens = {
      viewer: (await edge.userWithRole("viewer")).token,
      maintainer: (await edge.userWithRole("maintainer")).token,
    };
  });
  after(() => edge.close());

  const push = (raw: Uint8Array, { query = "", token = edge.adminToken, type = "application/gzip" } = {}) =>
    edge.call("POST", `/api/v1/plugins${query}`, { raw, token, headers: { "content-type": type } });
  const get = (path: string): Promise<Answer> => edge.call("GET", `/api/v1/plugins${path}`, { token: tokens.viewer });
  const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

  it("registers a version once: a repeat changes nothing, and other content is refused", async () => {
    const packed = await packageOf("1.0.0", { name: "team/once" });
    const first = await push(packed, { query: `?sha256=${sha256Of(packed)}` });
    expect(first.status, JSON.stringify(first.body)).to.equal(200);
    expect(first.body.detail).to.deep.include({ name: "team/once", version: "1.0.0", size: packed.length });
    expect(first.body.detail).to.deep.include({ sha256: sha256Of(packed), createdBy: "admin" });
    expect((await push(packed)).body.detail).to.deep.equal(first.body.detail);

    const other = await push(await packageOf("1.0.0", { name: "team/once", script: "echo other" }));
    expect([other.status, other.body.reason]).to.deep.equal([409, "already_exists"]);
    expect(other.body.errMsg).to.include("a version does not change");
    expect((await get("/team/once/versions/1.0.0")).body.detail).to.deep.equal(first.body.detail);
  });

  it("lists plugins, and describes a plugin by its newest version and each version", async () => {
    for (const version of ["1.2.0", "1.10.0", "1.10.1-rc.1"]) await push(await packageOf(version, { name: "lists/a" }));
    await push(await packageOf("0.1.0", { name: "lists/b/c" }));
    const list = (await get("?name=lists/&pageSize=1&page=1")).body.detail;
    expect(list).to.deep.equal({
      list: [{ name: "lists/a", newest: "1.10.1-rc.1", versions: 3 }],
      total: 2,
      page: 1,
      pageSize: 1,
    });
    const plugin = (await get("/lists/a")).body.detail;
    expect(plugin.versions.map(({ version }: { version: string }) => version)).to.deep.equal([
      "1.10.1-rc.1",
      "1.10.0",
      "1.2.0",
    ]);
    expect(plugin.manifest.actions.greet.args.required).to.deep.equal(["to"]);
    expect((await get("/lists/b/c/versions/0.1.0")).body.detail.manifest.name).to.equal("lists/b/c");
    for (const path of ["/lists", "/lists/a/versions/9.9.9", "/lists/a/versions/1"]) {
      expect((await get(path)).status, path).to.equal(404);
    }
  });

  it("lets only administrators register and delete plugins", async () => {
    const packed = await packageOf("1.0.0", { name: "team/mine" });
    expect((await push(packed, { token: tokens.maintainer })).status).to.equal(403);
    await push(packed);
    const path = "/api/v1/plugins/team/mine/versions/1.0.0";
    expect((await edge.call("DELETE", path, { token: tokens.maintainer })).status).to.equal(403);
    expect((await edge.call("DELETE", path)).status).to.equal(200);
    expect((await edge.call("DELETE", path)).status).to.equal(404);
    expect((await get("/team/mine")).status).to.equal(404);
    const again = await push(await packageOf("1.0.0", { name: "team/mine", script: "echo other" }));
    expect(again.status, "the version is free again").to.equal(200);
  });

  it("refuses a body that is not a package, with every problem", async () => {
    const packed = await packageOf("1.0.0", { name: "team/bad" });
    const wrong = await push(packed, { query: `?sha256=${"0".repeat(64)}` });
    expect([wrong.status, wrong.body.errMsg]).to.deep.equal([
      400,
      `the package came with the checksum ${sha256Of(packed)}, not ${"0".repeat(64)}: send it again`,
    ]);
    expect((await push(packed, { query: "?sha256=short" })).status).to.equal(400);
    expect((await push(packed, { type: "application/json" })).status).to.equal(415);
    expect((await push(new Uint8Array(33 * 1024 * 1024))).status).to.equal(413);
    expect((await push(Buffer.from("no package"))).body.errMsg).to.include("it is not a gzipped tar");
    const manifest =
      "name: team/bad\nversion: 1.0.0\nactions:\n  a: { command: [sh], args: { type: strin } }\n  b: {}\n";
    const broken = await push(await rawPackage([{ name: "plugin.yaml", text: manifest }]));
    expect(broken.status).to.equal(400);
    expect(
      broken.body.errors.map(({ line, column, pointer }: Record<string, unknown>) => [line, column, pointer]),
    ).to.deep.equal([
      [4, 23, "/actions/a/args"],
      [5, 3, "/actions/b"],
    ]);
    const shell = await push(await packageOf("1.0.0", { name: "shell" }));
    expect(shell.body.errMsg).to.include('the name of the builtin "shell"');
    expect((await get("/team/bad")).status).to.equal(404);
  });

  it("resumes an interrupted push, and replaces one that was abandoned", async () => {
    const packed = await writePackage([
      ...greeter("1.0.0", { name: "team/cut" }),
      fileOf("noise", Buffer.from(Array.from({ length: 700_000 }, (_, at) => (at * 7919 * (at >> 3)) & 255))),
    ]);
    const record = {
      name: "team/cut",
      version: "1.0.0",
      packageId: newId("pkg"),
      sha256: sha256Of(packed),
      sizeBytes: packed.length,
      state: "storing",
      createdAt: edge.context.clock.now(),
      createdBy: "admin",
      manifest: JSON.stringify({
        name: "team/cut",
        version: "1.0.0",
        description: "",
        actions: {},
        defaultAction: null,
        platforms: [],
      }),
    } as const;
    const { plugins, blobs } = edge.context.stores;
    await plugins.begin(record);
    await blobs.put(record.packageId, 0, packed.subarray(0, 262_144));
    const other = await push(await packageOf("1.0.0", { name: "team/cut" }));
    expect([other.status, other.body.reason]).to.deep.equal([409, "conflict"]);
    const [one, two] = await Promise.all([push(packed), push(packed)]);
    // Of two pushes at the same instant, one may have to be repeated.
    for (const { status } of [one, two]) expect(status).to.be.oneOf([200, 503]);
    expect((await push(packed)).status).to.equal(200);
    expect((await plugins.find("team/cut", "1.0.0"))!.packageId).to.equal(record.packageId);

    await plugins.begin({
      ...record,
      name: "team/left",
      packageId: newId("pkg"),
      createdAt: record.createdAt - 600_001,
    });
    expect((await push(await packageOf("1.0.0", { name: "team/left" }))).status).to.equal(200);
    const half = { ...record, name: "team/half", packageId: newId("pkg") };
    await plugins.begin(half);
    await plugins.markDeleting(half.packageId);
    expect((await push(await packageOf("1.0.0", { name: "team/half" }))).status).to.equal(200);
  });

  describe("in diagnostics of definitions", () => {
    let pipelineId: string;
    before(async () => {
      for (const version of ["1.0.0", "1.4.0", "2.0.0"]) await push(await packageOf(version, { name: "defs/greet" }));
      pipelineId = (await edge.call("POST", "/api/v1/pipelines", { body: { name: "defs" } })).body.detail.pipelineId;
    });
    const spec = (step: object) => ({ jobs: [{ name: "a", steps: [{ name: "greet", ...step }] }] });
    const validate = async (step: object) =>
      (await edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/validate`, { body: { spec: spec(step) } })).body
        .detail;
    const diagnosticsOf = async (step: object): Promise<readonly string[]> =>
      (await validate(step)).diagnostics.map(
        ({ severity, code, pointer, message }: Record<string, string>) => `${severity} ${code} ${pointer} ${message}`,
      );

    it("reports nothing about valid steps, also with values that only the run knows", async () => {
      for (const args of [
        { to: "all", times: 2 },
        { to: "${{ trigger.ref }}", times: "${{ fromJSON(variables.n) }}" },
      ]) {
        expect(await diagnosticsOf({ uses: "defs/greet@1", args })).to.deep.equal([]);
      }
    });

    it("reports wrong arguments and unknown actions, versions and plugins", async () => {
      const at = "/jobs/0/steps/0";
      expect(await diagnosticsOf({ uses: "defs/greet@1", args: { times: "two", too: 1 } })).to.have.members([
        `error invalid-args ${at}/args \`args\` must have "to"`,
        `error invalid-args ${at}/args/times \`times\` must be integer`,
        `error invalid-args ${at}/args/too \`too\` is not known`,
      ]);
      expect(await diagnosticsOf({ uses: "defs/greet@v1.4", action: "gret", args: {} })).to.deep.equal([
        `error unknown-action ${at}/action "defs/greet@v1.4" has no action "gret" (did you mean "greet"?)`,
      ]);
      expect(await diagnosticsOf({ uses: "defs/greet@3", args: {} })).to.deep.equal([
        `error unknown-plugin-version ${at}/uses the plugin "defs/greet" has no version 3`,
      ]);
      expect(await diagnosticsOf({ uses: "defs/gret@1", args: {} })).to.deep.equal([
        `warning unknown-plugin ${at}/uses the registry has no plugin "defs/gret" (did you mean "defs/greet"?)`,
      ]);
    });

    it("prevents saves with errors, and planning takes the newest matching version", async () => {
      const save = (step: object) =>
        edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, { body: { spec: spec(step) } });
      const refused = await save({ uses: "defs/greet@1", args: {} });
      expect([refused.status, refused.body.reason]).to.deep.equal([400, "invalid_definition"]);
      expect((await save({ uses: "defs/greet@1", args: { to: "${{ trigger.ref }}" } })).status).to.equal(200);
      const plan = (await edge.call("POST", `/api/v1/pipelines/${pipelineId}/plan`, { body: {} })).body.detail;
      expect(plan.stages[0].jobs[0].steps[0].uses).to.equal("defs/greet@1.4.0");

      const trigger = async (): Promise<string> =>
        (await edge.call("POST", `/api/v1/pipelines/${pipelineId}/trigger`, { body: {} })).body.detail.runId;
      const planned = async (runId: string) => (await edge.context.stores.plans.loadJob(runId as never, 0))!.steps[0]!;
      const first = await trigger();
      const record = (await edge.context.stores.plugins.find("defs/greet", "1.4.0"))!;
      expect(await planned(first)).to.deep.include({
        uses: "defs/greet@1.4.0",
        action: "greet",
        plugin: { sha256: record.sha256, sizeBytes: record.sizeBytes },
      });
      await push(await packageOf("1.5.0", { name: "defs/greet" }));
      expect((await planned(await trigger())).uses).to.equal("defs/greet@1.5.0");
      expect((await planned(first)).uses).to.equal("defs/greet@1.4.0");
    });

    it("refuses a trigger whose values make the arguments wrong", async () => {
      await edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, {
        body: {
          spec: {
            variables: { n: "1" },
            ...spec({ uses: "defs/greet@1", args: { to: "x", times: "${{ fromJSON(variables.n) }}" } }),
          },
        },
      });
      const trigger = (n: string) =>
        edge.call("POST", `/api/v1/pipelines/${pipelineId}/trigger`, { body: { variables: { n } } });
      expect((await trigger("3")).status).to.equal(200);
      const refused = await trigger("0");
      expect(refused.status).to.equal(400);
      expect(refused.body.errors[0]).to.deep.include({ code: "invalid-args", pointer: "/jobs/0/steps/0/args/times" });
      expect(refused.body.errors[0].message).to.include("must be >= 1");
    });
  });
});
