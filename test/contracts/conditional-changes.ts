/** The contract of changes that are made only while an object is as its reader has seen it. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { asId, newId, type TenantId } from "../../src/domain/ids.ts";
import { UNBOUNDED } from "../../src/domain/retention-text.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { pipelineRecord } from "../support/pipelines.ts";

/** An object in a store, changed by writers who have all read it at once. */
interface Changing {
  /** Makes the object; answers the change of one writer, true when the store makes it, and the writer whose change is stored. */
  readonly make: (stores: Stores) => Promise<{
    readonly change: (writer: number, expectsFirst: boolean) => Promise<boolean>;
    readonly writer: () => Promise<number>;
  }>;
}

const WRITERS = 4;

const CHANGES: Readonly<Record<string, Changing["make"]>> = {
  async "the name of a project"({ pipelines }) {
    const projectId = newId("prj");
    await pipelines.createProject({ projectId, name: `${projectId}/0`, createdAt: 1 });
    return {
      async change(writer, expectsFirst) {
        // Absent, null and undefined are the same to a reader.
        const expected = { name: `${projectId}/${expectsFirst ? 0 : 99}`, archivedAt: null, description: undefined };
        return (await pipelines.changeProject(projectId, { name: `${projectId}/${writer}` }, expected)) === "changed";
      },
      writer: async () => Number((await pipelines.findProject(projectId))!.name.split("/")[1]),
    };
  },
  async "the retention of a project"({ pipelines }) {
    const projectId = newId("prj");
    await pipelines.createProject({ projectId, name: projectId, createdAt: 1 });
    const retentionOf = (writer: number) => ({ runs: { ...UNBOUNDED, perPipeline: writer }, logs: UNBOUNDED });
    await pipelines.changeProject(projectId, { retention: retentionOf(100) });
    const read = (await pipelines.findProject(projectId))!.retention;
    return {
      async change(writer, expectsFirst) {
        const expected = { retention: expectsFirst ? read : undefined };
        return (await pipelines.changeProject(projectId, { retention: retentionOf(writer) }, expected)) === "changed";
      },
      writer: async () => (await pipelines.findProject(projectId))!.retention!.runs!.perPipeline! % 100,
    };
  },
  async "a pipeline"({ pipelines }) {
    const pipeline = pipelineRecord(newId("pl"));
    await pipelines.create(pipeline);
    return {
      async change(writer, expectsFirst) {
        const expected = { updatedAt: pipeline.updatedAt, headRevisionId: expectsFirst ? null : newId("rev") };
        const updated = { ...pipeline, description: `${writer}`, updatedAt: pipeline.updatedAt + writer };
        return (await pipelines.update(updated, expected)) === "updated";
      },
      writer: async () => Number((await pipelines.find(pipeline.pipelineId))!.description),
    };
  },
  async "a tenant"({ rights }) {
    const tenantId = newId("tnt");
    await rights.createTenant({ tenantId, name: `${tenantId}/0`, createdAt: 1, archivedAt: null });
    return {
      async change(writer, expectsFirst) {
        const expected = { name: `${tenantId}/0`, archivedAt: expectsFirst ? null : 5 };
        return (await rights.changeTenant(tenantId, { name: `${tenantId}/${writer}` }, expected)) === "changed";
      },
      writer: async () => Number((await rights.findTenant(tenantId))!.name.split("/")[1]),
    };
  },
  async "a team"({ rights }) {
    const team = { teamId: newId("team"), tenantId: newId("tnt"), name: "0", createdAt: 1 };
    await rights.createTeam(team);
    return {
      change: async (writer, expectsFirst) =>
        (await rights.renameTeam(team.teamId, `${writer}`, { name: expectsFirst ? "0" : "99" })) === "changed",
      writer: async () => Number((await rights.findTeam(team.teamId))!.name),
    };
  },
  async "the role of a member"({ rights }) {
    const [subjectId, tenantId] = [newId("usr"), newId("tnt")];
    const bindingOf = (writer: number, role: "viewer" | "admin") => {
      return { subjectId, area: { tenantId }, role, createdAt: writer, createdBy: "ann" };
    };
    expect(await rights.bind(bindingOf(0, "viewer"), "viewer"), "of no member yet").to.equal(false);
    await rights.bind(bindingOf(0, "viewer"));
    return {
      change: (writer, expectsFirst) => rights.bind(bindingOf(writer, "admin"), expectsFirst ? "viewer" : "owner"),
      writer: async () => (await rights.boundTo(subjectId))[0]!.createdAt,
    };
  },
  async "a user"({ identity }) {
    const userId = newId("usr");
    const user = { userId, name: userId, role: null, passwordHash: "", createdAt: 1, disabled: false } as const;
    await identity.createUser(user);
    return {
      async change(writer, expectsFirst) {
        const expected = { name: userId, role: null, disabled: false, email: expectsFirst ? undefined : "x@y.example" };
        return (await identity.changeUser(userId, { email: `${writer}@z.example` }, expected)) === "changed";
      },
      writer: async () => Number.parseInt((await identity.findUser(userId))!.email ?? "0", 10),
    };
  },
  async "the labels of an agent"({ identity }) {
    const agentId = newId("agt");
    await identity.putAgent({ agentId, name: agentId, labels: {}, slots: 1, version: "1", createdAt: 1 });
    const labelsOf = (writer: number) => ({ "k8s.io/writer": `${writer}` });
    return {
      change: (writer, expectsFirst) =>
        identity.changeAgent(
          agentId,
          { trustedLabels: labelsOf(writer) },
          { trustedLabels: expectsFirst ? undefined : labelsOf(99) },
        ),
      writer: async () => Number((await identity.findAgent(agentId))!.trustedLabels?.["k8s.io/writer"] ?? 0),
    };
  },
  async "the reach of an agent"({ identity }) {
    const agentId = newId("agt");
    await identity.putAgent({ agentId, name: agentId, labels: {}, slots: 1, version: "1", createdAt: 1 });
    const reachOf = (writer: number) => ({ tenantId: asId<TenantId>(`tnt_${writer}`), projectIds: null });
    return {
      change: (writer, expectsFirst) =>
        identity.changeAgent(
          agentId,
          { reach: reachOf(writer) },
          { trustedLabels: undefined, reach: expectsFirst ? undefined : reachOf(99) },
        ),
      writer: async () => Number((await identity.findAgent(agentId))!.reach?.tenantId.slice(4) ?? 0),
    };
  },
  async "the value of a secret"({ secrets }) {
    const key = { projectId: newId("prj"), pipelineId: null, name: "S" };
    const value = { keyId: "k", sealed: "0", updatedAt: 1, updatedBy: "ann" };
    await secrets.create({ ...key, ...value, version: 1, createdAt: 1, createdBy: "ann" });
    return {
      async change(writer, expectsFirst) {
        const stored = await secrets.replace(key, { ...value, sealed: `${writer}` }, expectsFirst ? 1 : 9);
        expect(stored?.version).to.be.oneOf([undefined, 2]);
        return stored !== undefined;
      },
      writer: async () => Number((await secrets.get(key))!.sealed),
    };
  },
};

export function conditionalChangesContract(open: () => Stores): void {
  describe("conditional changes", () => {
    for (const [what, make] of Object.entries(CHANGES)) {
      it(`of ${what} are made by one of those who have read the same state`, async () => {
        const { change, writer } = await make(open());
        expect(await change(1, false), "another state").to.equal(false);
        expect(await writer()).to.equal(0);
        const writers = Array.from({ length: WRITERS }, (_, index) => index + 1);
        const made = await Promise.all(writers.map((one) => change(one, true)));
        expect(made.filter(Boolean)).to.have.lengthOf(1);
        expect(await writer()).to.equal(writers[made.indexOf(true)]);
        expect(await change(WRITERS + 1, true), "too late").to.equal(false);
        expect(await writer()).to.equal(writers[made.indexOf(true)]);
      });
    }
  });
}
