/** The contract of the store of tenants, teams and bound rights. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { DEFAULT_TENANT, newId, type UserId } from "../../src/domain/ids.ts";
import type { Area, Role } from "../../src/domain/roles.ts";
import type { User } from "../../src/stores/ports/identity.ts";
import type { Project } from "../../src/stores/ports/pipelines.ts";
import type { Binding, SubjectId, Team, Tenant } from "../../src/stores/ports/rights.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { pipelineRecord } from "../support/pipelines.ts";

export function rightsStoreContract(open: () => Stores): void {
  describe("the store of rights", () => {
    const tenantOf = (): Tenant => {
      const tenantId = newId("tnt");
      return { tenantId, name: tenantId, createdAt: 1, archivedAt: null };
    };
    const teamOf = (tenantId: Tenant["tenantId"], name: string = newId("team")): Team => ({
      teamId: newId("team"),
      tenantId,
      name,
      createdAt: 1,
    });
    const bindingOf = (subjectId: SubjectId, area: Area, role: Role): Binding => ({
      subjectId,
      area,
      role,
      createdAt: 1,
      createdBy: "ann",
    });
    const userWith = async (fields: Partial<User> = {}): Promise<User> => {
      const userId = newId("usr");
      const user: User = {
        userId,
        name: userId,
        role: null,
        passwordHash: "",
        createdAt: 1,
        disabled: false,
        ...fields,
      };
      await open().identity.createUser(user);
      return user;
    };
    const projectIn = async (tenantId: Tenant["tenantId"], name: string = newId("prj")): Promise<Project> => {
      const project: Project = { projectId: newId("prj"), tenantId, name, createdAt: 1 };
      expect(await open().pipelines.createProject(project)).to.equal("created");
      return project;
    };

    it("keeps tenants by unique names", async () => {
      const { rights } = open();
      const [one, two] = [tenantOf(), tenantOf()];
      for (const tenant of [one, two, one]) expect(await rights.createTenant(tenant)).to.equal("created");
      expect(await rights.createTenant({ ...one, tenantId: newId("tnt") })).to.equal("nameTaken");
      expect(await rights.changeTenant(two.tenantId, { name: one.name })).to.equal("nameTaken");
      expect(await rights.changeTenant(newId("tnt"), { name: "x" })).to.equal("missing");
      const change = { name: newId("tnt"), archivedAt: 5 };
      expect(await rights.changeTenant(two.tenantId, change)).to.equal("changed");
      expect(await rights.findTenant(two.tenantId)).to.deep.equal({ ...two, ...change });
      expect(await rights.listTenants([one.tenantId])).to.deep.equal([one]);
      expect(await rights.listTenants()).to.deep.include(one);
      expect(await rights.deleteTenant(one.tenantId)).to.equal(true);
      expect(await rights.deleteTenant(one.tenantId)).to.equal(false);
      expect(await rights.findTenant(one.tenantId)).to.equal(undefined);
    });

    it("keeps names of projects apart by tenant, and lists those of tenants", async () => {
      const { pipelines } = open();
      const [one, two] = [newId("tnt"), newId("tnt")];
      const name = newId("prj");
      const [first, second] = [await projectIn(one, name), await projectIn(two, name)];
      const taken = { projectId: newId("prj"), tenantId: one, name, createdAt: 1 };
      expect(await pipelines.createProject(taken)).to.equal("nameTaken");
      const other = await projectIn(two);
      expect(await pipelines.changeProject(other.projectId, { name })).to.equal("nameTaken");
      expect(await pipelines.listProjects({ projectIds: [], tenantIds: [two] })).to.deep.equal([second, other]);
      expect(await pipelines.listProjects({ projectIds: [first.projectId], tenantIds: [] })).to.deep.equal([first]);
      expect(await pipelines.listProjects({ projectIds: [], tenantIds: [] })).to.deep.equal([]);
      // A project of a version without tenants.
      const older: Project = { projectId: newId("prj"), name: newId("prj"), createdAt: 1 };
      await pipelines.createProject(older);
      expect(await pipelines.listProjects({ projectIds: [], tenantIds: [DEFAULT_TENANT] })).to.deep.include(older);
    });

    it("keeps slugs apart by tenant, and finds projects and tenants by them", async () => {
      const { pipelines, rights } = open();
      const slug = newId("prj").toLowerCase().replace("_", "-");
      const [one, two] = [{ ...tenantOf(), slug }, tenantOf()];
      for (const tenant of [one, two, one]) expect(await rights.createTenant(tenant)).to.equal("created");
      expect(await rights.createTenant({ ...tenantOf(), slug })).to.equal("slugTaken");
      expect(await rights.changeTenant(two.tenantId, { slug })).to.equal("slugTaken");
      expect(await rights.changeTenant(two.tenantId, { name: one.name, slug: "free" })).to.equal("nameTaken");
      expect(await rights.findTenantBySlug(slug)).to.deep.equal(one);
      expect(await rights.findTenantBySlug(`${slug}-2`)).to.equal(undefined);
      const project = { ...(await projectIn(one.tenantId)), projectId: newId("prj"), name: "slugged", slug };
      for (let count = 1; count <= 2; count++) expect(await pipelines.createProject(project)).to.equal("created");
      const other = { ...project, projectId: newId("prj"), name: "other" };
      expect(await pipelines.createProject(other)).to.equal("slugTaken");
      expect(await pipelines.createProject({ ...other, name: "slugged", slug: "free" })).to.equal("nameTaken");
      expect(await pipelines.createProject({ ...other, tenantId: two.tenantId })).to.equal("created");
      const third = await projectIn(one.tenantId);
      expect(await pipelines.changeProject(third.projectId, { slug })).to.equal("slugTaken");
      expect(await pipelines.changeProject(third.projectId, { name: "slugged" })).to.equal("nameTaken");
      expect(await pipelines.changeProject(project.projectId, { name: "renamed" })).to.equal("changed");
      expect(await pipelines.findProjectBySlug(one.tenantId, slug)).to.deep.equal({ ...project, name: "renamed" });
      expect(await pipelines.findProjectBySlug(newId("tnt"), slug)).to.equal(undefined);
    });

    it("finds a user with every role that is bound to the user or to a team", async () => {
      const { identity, rights } = open();
      const user = await userWith();
      expect(await identity.findUser(user.userId)).to.deep.equal(user);
      const [tenantId, projectId] = [newId("tnt"), newId("prj")];
      const team = teamOf(tenantId);
      await rights.createTeam(team);
      await rights.addToTeam(team.teamId, user.userId);
      await rights.addToTeam(team.teamId, user.userId);
      const own = bindingOf(user.userId, { projectId }, "viewer");
      const ofTeam = bindingOf(team.teamId, { tenantId }, "admin");
      for (const binding of [own, ofTeam, bindingOf(newId("usr"), { tenantId }, "owner")]) await rights.bind(binding);
      const found = (await identity.findUser(user.userId))!;
      expect(found.bindings).to.have.deep.members([own, ofTeam]);
      await rights.bind({ ...own, role: "operator" });
      expect(await rights.boundTo(user.userId)).to.deep.equal([{ ...own, role: "operator" }]);
      expect(await rights.boundIn({ tenantId })).to.have.length(2);
      expect(await rights.membersOf(team.teamId)).to.deep.equal([user.userId]);
      expect(await rights.teamsOf(user.userId)).to.deep.equal([team.teamId]);
      expect(await rights.removeFromTeam(team.teamId, user.userId)).to.equal(true);
      expect(await rights.teamsOf(user.userId)).to.deep.equal([]);
      expect(await rights.removeFromTeam(team.teamId, user.userId)).to.equal(false);
      expect(await rights.unbind(user.userId, { projectId })).to.equal(true);
      expect(await rights.unbind(user.userId, { projectId })).to.equal(false);
      expect(await identity.findUser(user.userId)).to.deep.equal(user);
      await rights.unbindAll({ tenantId });
      expect(await rights.boundIn({ tenantId })).to.deep.equal([]);
    });

    it("keeps the names of teams apart by tenant, and deletes a team with its members and roles", async () => {
      const { rights } = open();
      const [one, two] = [newId("tnt"), newId("tnt")];
      const [first, namesake] = [teamOf(one, "b"), teamOf(two, "b")];
      const other = teamOf(one, "a");
      for (const team of [first, namesake, other]) expect(await rights.createTeam(team)).to.equal("created");
      expect(await rights.createTeam(teamOf(one, "b"))).to.equal("nameTaken");
      expect(await rights.renameTeam(other.teamId, "b")).to.equal("nameTaken");
      expect(await rights.renameTeam(newId("team"), "c")).to.equal("missing");
      expect(await rights.listTeams(one)).to.deep.equal([other, first]);
      expect(await rights.renameTeam(other.teamId, "c")).to.equal("changed");
      expect(await rights.findTeam(other.teamId)).to.deep.equal({ ...other, name: "c" });
      await rights.addToTeam(first.teamId, newId("usr"));
      await rights.bind(bindingOf(first.teamId, { tenantId: one }, "viewer"));
      expect(await rights.deleteTeam(first.teamId)).to.equal(true);
      expect(await rights.deleteTeam(first.teamId)).to.equal(false);
      expect(await rights.membersOf(first.teamId)).to.deep.equal([]);
      expect(await rights.boundIn({ tenantId: one })).to.deep.equal([]);
    });

    it("removes the roles of a user who is deleted, and the teams of a tenant that is deleted", async () => {
      const { identity, rights } = open();
      const user = await userWith();
      const tenant = tenantOf();
      await rights.createTenant(tenant);
      const { tenantId } = tenant;
      const team = teamOf(tenantId);
      await rights.createTeam(team);
      await rights.addToTeam(team.teamId, user.userId);
      await rights.bind(bindingOf(user.userId, { tenantId }, "viewer"));
      expect(await identity.deleteUser(user.userId)).to.equal("deleted");
      expect(await rights.boundIn({ tenantId })).to.deep.equal([]);
      expect(await rights.membersOf(team.teamId)).to.deep.equal([]);
      await rights.deleteTenant(tenantId);
      expect(await rights.findTeam(team.teamId)).to.equal(undefined);
    });

    it("keeps users without a role, and the accounts that an area owns", async () => {
      const { identity } = open();
      const area: Area = { projectId: newId("prj") };
      const account = await userWith({ ownedBy: area });
      const person = await userWith({ disabled: true });
      expect(await identity.listOwnedBy(area)).to.deep.equal([account]);
      expect(await identity.listOwnedBy({ projectId: newId("prj") })).to.deep.equal([]);
      const read = (userId: UserId) => identity.findUser(userId);
      expect(await read(person.userId)).to.deep.equal(person);
      expect(await identity.changeUser(person.userId, { disabled: false })).to.equal("changed");
      expect(await read(person.userId)).to.deep.equal({ ...person, disabled: false });
      expect(await identity.changeUser(person.userId, { role: "operator" })).to.equal("changed");
      expect(await read(person.userId)).to.deep.equal({ ...person, disabled: false, role: "operator" });
      expect(await identity.changeUser(person.userId, { role: null })).to.equal("changed");
      expect(await read(person.userId)).to.deep.equal({ ...person, disabled: false });
    });

    it("lists the pipelines of some projects only, with their number", async () => {
      const { pipelines } = open();
      const [one, two] = [newId("prj"), newId("prj")];
      const page = { page: 1, pageSize: 10, descending: false, sort: "name" } as const;
      for (const projectId of [one, two]) {
        await pipelines.create(pipelineRecord(newId("pl"), { projectId }));
      }
      const count = async (filter: object) => (await pipelines.list(filter, page)).total;
      expect(await count({ projectIds: [one, two] })).to.equal(2);
      expect(await count({ projectIds: [one] })).to.equal(1);
      expect(await count({ projectIds: [one], projectId: two })).to.equal(0);
      expect(await count({ projectIds: [] })).to.equal(0);
    });
  });
}
