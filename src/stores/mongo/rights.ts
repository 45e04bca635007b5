/** Tenants, teams and bound rights in MongoDB. */
import type { UserId } from "../../domain/ids.ts";
import type { Area } from "../../domain/roles.ts";
import { type Binding, type RightsStore, storedArea, type SubjectId, type Team, type Tenant } from "../ports/rights.ts";
import { bodiesOf, bodyAsExpected, bodyOf } from "./bodies.ts";
import { type Connection, insertIfAbsent, isDuplicateKey, translated } from "./connection.ts";
import { areaDeletionStore } from "./deletions.ts";

interface Membership {
  readonly _id: string;
  readonly userId: UserId;
  readonly teamId: Team["teamId"];
}

export function rightsStore(connection: Connection): RightsStore {
  const tenants = connection.collection("tenants");
  const teams = connection.collection("teams");
  const members = connection.collection<Membership>("team_members");
  const bindings = connection.collection("bindings");

  const idOf = (subjectId: SubjectId, area: Area): string => {
    const { kind, id } = storedArea(area);
    return `${subjectId}/${kind}/${id}`;
  };
  const inArea = (area: Area) => {
    const { kind, id } = storedArea(area);
    return { area: kind, areaId: id };
  };
  const renamed = async (
    change: Promise<{ readonly matchedCount: number }>,
    isThere: () => Promise<unknown>,
  ): Promise<"changed" | "missing" | "nameTaken" | "moved"> => {
    try {
      if ((await change).matchedCount > 0) return "changed";
      return (await isThere()) === null ? "missing" : "moved";
    } catch (error) {
      if (isDuplicateKey(error)) return "nameTaken";
      throw error;
    }
  };
  // The team goes last: a call that was cut off is repeated as long as the team is there.
  const deleteTeam = async (teamId: Team["teamId"]): Promise<boolean> => {
    await bindings.deleteMany({ subjectId: teamId });
    await members.deleteMany({ teamId });
    return (await teams.deleteOne({ _id: teamId })).deletedCount > 0;
  };

  return {
    async createTenant(tenant) {
      const { tenantId } = tenant;
      const inserted = await insertIfAbsent(tenants, { _id: tenantId, slug: tenant.slug ?? tenantId, body: tenant });
      if (inserted || (await tenants.findOne({ _id: tenantId })) !== null) return "created";
      return (await tenants.findOne({ "body.name": tenant.name })) === null ? "slugTaken" : "nameTaken";
    },
    async changeTenant(tenantId, change, expected = {}) {
      const fields = Object.fromEntries(Object.entries(change).map(([field, value]) => [`body.${field}`, value]));
      const set = { ...fields, ...(change.slug !== undefined && { slug: change.slug }) };
      const filter = { _id: tenantId, ...bodyAsExpected(expected) };
      const find = () => tenants.findOne({ _id: tenantId });
      const outcome = await renamed(tenants.updateOne(filter, { $set: set }), find);
      if (outcome !== "nameTaken") return outcome;
      const namesake = await tenants.findOne({ "body.name": change.name ?? null, _id: { $ne: tenantId } });
      return namesake === null ? "slugTaken" : "nameTaken";
    },
    findTenantBySlug: async (slug) => bodyOf<Tenant>(await tenants.findOne({ slug })),
    findTenant: async (tenantId) => bodyOf<Tenant>(await tenants.findOne({ _id: tenantId })),
    listTenants: async (only) =>
      bodiesOf<Tenant>(
        await tenants
          .find(only === undefined ? {} : { _id: { $in: [...only] } })
          .sort({ _id: 1 })
          .toArray(),
      ),
    async deleteTenant(tenantId) {
      for (const { _id } of await teams.find({ tenantId }, { projection: { _id: 1 } }).toArray()) {
        await deleteTeam(_id as Team["teamId"]);
      }
      await bindings.deleteMany(inArea({ tenantId }));
      return (await tenants.deleteOne({ _id: tenantId })).deletedCount > 0;
    },

    async createTeam(team) {
      const { teamId, tenantId, name } = team;
      const inserted = await insertIfAbsent(teams, { _id: teamId, tenantId, name, body: team });
      return inserted || (await teams.findOne({ _id: teamId })) !== null ? "created" : "nameTaken";
    },
    renameTeam(teamId, name, expected = {}) {
      const filter = { _id: teamId, ...bodyAsExpected(expected) };
      const set = { name, "body.name": name };
      return renamed(teams.updateOne(filter, { $set: set }), () => teams.findOne({ _id: teamId }));
    },
    findTeam: async (teamId) => bodyOf<Team>(await teams.findOne({ _id: teamId })),
    listTeams: async (tenantId) => bodiesOf<Team>(await teams.find({ tenantId }).sort({ name: 1 }).toArray()),
    deleteTeam,

    async addToTeam(teamId, userId) {
      await insertIfAbsent(members, { _id: `${userId}/${teamId}`, userId, teamId });
    },
    removeFromTeam: async (teamId, userId) =>
      (await members.deleteOne({ _id: `${userId}/${teamId}` })).deletedCount > 0,
    membersOf: async (teamId) =>
      (await members.find({ teamId }).sort({ userId: 1 }).toArray()).map(({ userId }) => userId),
    teamsOf: async (userId) =>
      (await members.find({ userId }).sort({ teamId: 1 }).toArray()).map(({ teamId }) => teamId),

    async bind(binding, expected) {
      const { subjectId, area } = binding;
      const fields = { subjectId, ...inArea(area), body: binding };
      const filter = { _id: idOf(subjectId, area), ...(expected !== undefined && { "body.role": expected }) };
      const upsert = expected === undefined;
      const { matchedCount, upsertedCount } = await bindings.updateOne(filter, { $set: fields }, { upsert });
      return matchedCount + upsertedCount > 0;
    },
    unbind: async (subjectId, area) => (await bindings.deleteOne({ _id: idOf(subjectId, area) })).deletedCount > 0,
    boundIn: async (area) => bodiesOf<Binding>(await bindings.find(inArea(area)).sort({ subjectId: 1 }).toArray()),
    boundTo: async (subjectId) =>
      bodiesOf<Binding>(await bindings.find({ subjectId }).sort({ area: 1, areaId: 1 }).toArray()),
    async unbindAll(area) {
      await bindings.deleteMany(inArea(area));
    },

    deletions: translated(areaDeletionStore(connection)),
  };
}
