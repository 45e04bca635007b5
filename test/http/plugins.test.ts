/** The plugin registry over HTTP, and the diagnostics of definitions that use its plugins. */
import { createHash } from "node:crypto";
import { expect } from "chai";
import { newId, type ProjectId, type TenantId } from "../../src/domain/ids.ts";
import { PLUGIN_BOUNDS } from "../../src/domain/plugins.ts";
import { type Answer, openTestEdge, type TestEdge } from "../support/edge.ts";
import { fileOf, greeter, packageOf, rawPackage } from "../support/plugin-packages.ts";
import { writePackage } from "../../src/plugins/package.ts";

const ofInstallation = { scope: "installation", tenantId: null, projectId: null };

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
      list: [{ name: "lists/a", ...ofInstallation, newest: "1.10.1-rc.1", versions: 3 }],
      total: 2,
      totalIsExact: true,
      page: 1,
      pageSize: 1,
      next: list.next,
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
      owner: "installation",
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
    expect((await plugins.find(record))!.packageId).to.equal(record.packageId);

    await plugins.begin({
      ...record,
      name: "team/left",
      packageId: newId("pkg"),
      createdAt: record.createdAt - 600_001,
    });
    expect((await push(await packageOf("1.0.0", { name: "team/left" }))).status).to.equal(200);
    const half = { ...record, name: "team/half", packageId: newId("pkg") };
    await plugins.begin(half);
    await plugins.markDeleting(half);
    expect((await push(await packageOf("1.0.0", { name: "team/half" }))).status).to.equal(200);
  });

  it("goes on from page to page with `after`", async () => {
    for (const name of ["paged/a", "paged/b", "paged/c"]) await push(await packageOf("1.0.0", { name }));
    const namesOf = ({ list }: { list: readonly { name: string }[] }) => list.map(({ name }) => name);
    const first = (await get("?name=paged/&pageSize=2")).body.detail;
    expect([namesOf(first), first.total, first.totalIsExact]).to.deep.equal([["paged/a", "paged/b"], 3, true]);
    const second = (await get(`?name=paged/&pageSize=2&after=${first.next}`)).body.detail;
    expect([namesOf(second), second.next]).to.deep.equal([["paged/c"], null]);
    const wrong = await get("?after=wrong");
    expect([wrong.status, wrong.body.errors[0].pointer]).to.deep.equal([400, "/after"]);
  });

  describe("of tenants and projects", () => {
    let tenantId: string;
    let shop: string;
    let site: string;
    let member: string;
    const make = async (path: string, body: object) =>
      (await edge.call("POST", `/api/v1${path}`, { body })).body.detail;
    const tokenWith = async (area: { tenantId: string } | { projectId: string }, role: string): Promise<string> => {
      const { userId } = await make("/users", { name: `u-${newId("usr")}`, role: null });
      const place = "tenantId" in area ? `/tenants/${area.tenantId}` : `/projects/${area.projectId}`;
      expect((await edge.call("PUT", `/api/v1${place}/members/${userId}`, { body: { role } })).status).to.equal(200);
      return (await make(`/users/${userId}/tokens`, { name: "t" })).token;
    };
    const pushTo = async (prefix: string, version: string, { token = edge.adminToken, ...options } = {} as PushTo) =>
      edge.call("POST", `/api/v1${prefix}/plugins`, {
        raw: await packageOf(version, { name: "owned/greet", ...options }),
        token,
        headers: { "content-type": "application/gzip" },
      });
    interface PushTo {
      readonly token?: string;
      readonly name?: string;
      readonly script?: string;
    }
    const read = (path: string, token = edge.adminToken) => edge.call("GET", `/api/v1${path}`, { token });
    before(async () => {
      ({ tenantId } = await make("/tenants", { name: "acme" }));
      shop = (await make("/projects", { name: "shop", tenantId })).projectId;
      site = (await make("/projects", { name: "site", tenantId })).projectId;
      member = await tokenWith({ projectId: shop }, "maintainer");
    });

    it("have names of their own, and are listed, read and deleted there", async () => {
      const prefixes = ["", `/tenants/${tenantId}`, `/projects/${shop}`];
      const pushed = [];
      for (const [at, prefix] of prefixes.entries()) {
        const { status, body } = await pushTo(prefix, "1.0.0", { script: `echo ${at}` });
        expect(status, JSON.stringify(body)).to.equal(200);
        pushed.push(body.detail);
      }
      const owners = pushed.map((one) => ({ scope: one.scope, tenantId: one.tenantId, projectId: one.projectId }));
      expect(owners).to.deep.equal([
        ofInstallation,
        { scope: "tenant", tenantId, projectId: null },
        { scope: "project", tenantId: null, projectId: shop },
      ]);
      expect(new Set(pushed.map(({ sha256 }) => sha256)).size).to.equal(3);
      for (const [at, prefix] of prefixes.entries()) {
        const one = await read(`${prefix}/plugins/owned/greet/versions/1.0.0`);
        expect(one.body.detail).to.deep.equal(pushed[at]);
        expect((await read(`${prefix}/plugins/owned/greet`)).body.detail).to.deep.include(owners[at]);
        const { list } = (await read(`${prefix}/plugins?name=owned/`)).body.detail;
        expect(list).to.deep.equal([{ name: "owned/greet", ...owners[at], newest: "1.0.0", versions: 1 }]);
      }
      expect((await read(`/projects/${site}/plugins`)).body.detail.list).to.deep.equal([]);
      const missing = await read(`/projects/${site}/plugins/owned/greet`);
      expect(missing.body).to.include({ code: 404, errMsg: `there is no plugin "owned/greet" of project ${site}` });

      await pushTo(`/tenants/${tenantId}`, "1.0.0", { name: "owned/other" });
      const inherited = (await read(`/projects/${shop}/plugins?inherited=true&name=owned/`)).body.detail;
      expect(inherited.list.map((one: { name: string; scope: string }) => [one.name, one.scope])).to.deep.equal([
        ["owned/greet", "project"],
        ["owned/other", "tenant"],
      ]);

      const gone = `/api/v1/projects/${shop}/plugins/owned/greet/versions/1.0.0`;
      expect((await edge.call("DELETE", gone, { token: member })).status).to.equal(200);
      expect((await edge.call("DELETE", gone, { token: member })).status).to.equal(404);
      expect((await read(`/tenants/${tenantId}/plugins/owned/greet/versions/1.0.0`)).status).to.equal(200);
      const query = `project=${shop}&operation=deleteProjectPluginRelease`;
      const entry = (await read(`/audit?${query}&outcome=done`)).body.detail.list[0];
      expect(entry.object).to.include({ kind: "plugin", id: "owned/greet@1.0.0" });
      expect([entry.before, entry.after]).to.deep.equal([{ version: "1.0.0", sha256: pushed[2].sha256 }, null]);
      const push = (await read(`/audit?project=${shop}&operation=pushProjectPlugin&outcome=done`)).body.detail.list[0];
      expect([push.before, push.after]).to.deep.equal([null, { version: "1.0.0", sha256: pushed[2].sha256 }]);
    });

    it("are pushed by maintainers of the project and administrators of the tenant, and missing for all others", async () => {
      expect((await pushTo(`/projects/${shop}`, "2.0.0", { token: member })).status).to.equal(200);
      const viewer = await tokenWith({ projectId: shop }, "viewer");
      expect((await read(`/projects/${shop}/plugins/owned/greet`, viewer)).status).to.equal(200);
      expect((await pushTo(`/projects/${shop}`, "2.0.1", { token: viewer })).status).to.equal(403);
      const foreign = [
        await pushTo(`/projects/${site}`, "2.0.0", { token: member }),
        await pushTo(`/tenants/${tenantId}`, "2.0.0", { token: member }),
        await read(`/projects/${site}/plugins`, member),
        await read(`/tenants/${tenantId}/plugins/owned/greet`, member),
      ];
      expect(foreign.map(({ status }) => status)).to.deep.equal([404, 404, 404, 404]);
      expect((await pushTo("", "2.0.0", { token: member })).status).to.equal(403);
      const maintainer = await tokenWith({ tenantId }, "maintainer");
      expect((await pushTo(`/tenants/${tenantId}`, "2.0.0", { token: maintainer })).status).to.equal(403);
      const admin = await tokenWith({ tenantId }, "admin");
      expect((await pushTo(`/tenants/${tenantId}`, "2.0.0", { token: admin })).status).to.equal(200);
    });

    it("are found by the definitions of their project, before those of the tenant and the installation", async () => {
      const sha256Of = async (prefix: string, version: string): Promise<string> =>
        (await pushTo(prefix, version, { name: "near/greet", script: `echo ${prefix}` })).body.detail.sha256;
      const shared = await sha256Of("", "1.0.0");
      const ofTenant = await sha256Of(`/tenants/${tenantId}`, "1.2.0");
      const ofShop = await sha256Of(`/projects/${shop}`, "1.1.0");
      const planned = async (projectId: string, uses = "near/greet@1") => {
        const { pipelineId } = await make("/pipelines", { name: newId("pl"), projectId });
        const spec = { jobs: [{ name: "a", steps: [{ uses, args: { to: "x" } }] }] };
        const saved = await edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, { body: { spec } });
        if (saved.status !== 200) return saved.body.errors[0].message;
        const { runId } = await make(`/pipelines/${pipelineId}/trigger`, {});
        return (await edge.context.stores.plans.loadJob(runId as never, 0))!.steps[0]!;
      };
      expect(await planned(shop)).to.deep.include({
        uses: "near/greet@1.1.0",
        plugin: { sha256: ofShop, sizeBytes: (await planned(shop)).plugin.sizeBytes, owner: `project/${shop}` },
      });
      expect((await planned(site)).plugin).to.include({ sha256: ofTenant, owner: `tenant/${tenantId}` });
      const { plugin } = await planned("default");
      expect([plugin.sha256, plugin.owner]).to.deep.equal([shared, undefined]);
      // The nearest plugin hides the others with all their versions.
      expect(await planned(shop, "near/greet@1.2")).to.equal(
        'the plugin "near/greet" has no version 1.2 (its versions: 1.1.0)',
      );
    });

    it("take no more than their bound, and nothing while their owner is archived", async () => {
      const { plugins } = edge.context.stores;
      const owner = `project/${site}` as `project/${ProjectId}`;
      const record = {
        owner,
        name: "big/one",
        version: "1.0.0",
        packageId: newId("pkg"),
        sha256: "a".repeat(64),
        sizeBytes: PLUGIN_BOUNDS.ownedBytes,
        state: "storing",
        createdAt: edge.context.clock.now(),
        createdBy: "test",
        manifest: "{}",
      } as const;
      await plugins.begin(record);
      const refused = await pushTo(`/projects/${site}`, "1.0.0");
      expect(refused.body).to.include({ code: 400, reason: "too_large" });
      expect(refused.body.errMsg).to.include(`the plugins of project ${site}`).and.include("delete some");
      await plugins.markDeleting(record);
      await plugins.remove(record);
      await edge.call("PATCH", `/api/v1/projects/${site}`, { body: { archived: true } });
      const archived = await pushTo(`/projects/${site}`, "1.0.0");
      expect(archived.body).to.include({ code: 409, reason: "conflict" });
      expect(archived.body.errMsg).to.include('the project "site" is archived');
    });

    it("are deleted with their tenant", async () => {
      const other = (await make("/tenants", { name: "brief" })).tenantId;
      expect((await pushTo(`/tenants/${other}`, "1.0.0")).status).to.equal(200);
      const owner = `tenant/${other}` as `tenant/${TenantId}`;
      const [plugin] = await edge.context.stores.plugins.listOf(owner, 10);
      expect((await edge.call("DELETE", `/api/v1/tenants/${other}`)).status).to.equal(200);
      expect(await edge.context.stores.plugins.listOf(owner, 10)).to.deep.equal([]);
      expect(await edge.context.stores.blobs.read(plugin!.packageId, 0, 10)).to.have.length(0);
    });
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
      const record = (await edge.context.stores.plugins.find({
        owner: "installation",
        name: "defs/greet",
        version: "1.4.0",
      }))!;
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
