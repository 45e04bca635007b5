/**
 * Callers of every kind: with a role in the installation, in the project, in the tenant through a team, in another tenant,
 * with a token that is narrowed, and with none of these; and tokens that prove nothing.
 */
import { SignJWT } from "jose";
import { currentKey } from "../../src/app/identity/token-keys.ts";
import { issueToken, tokenIdOf } from "../../src/app/identity/tokens.ts";
import { newId, type UserId } from "../../src/domain/ids.ts";
import { type OwnedProject, type Role, ROLES } from "../../src/domain/roles.ts";
import type { World } from "./world.ts";

export interface RightsCaller {
  readonly label: string;
  readonly token: string;
  /** The role that counts in the project; null for none. */
  readonly inProject: Role | null;
  readonly inTenant: Role | null;
  readonly inInstallation: Role | null;
  /** The role that the caller has in any place. */
  readonly anywhere: Role | null;
  readonly scopes: readonly string[];
  /** True for a token that counts in the project alone: it changes nothing of its user's account. */
  readonly isNarrowed?: boolean;
}

export async function callersOf(world: World): Promise<readonly RightsCaller[]> {
  const none = { inProject: null, inTenant: null, inInstallation: null, anywhere: null, scopes: [] };
  const { projectId, tenantId, otherTenantId } = world;
  const callers: RightsCaller[] = [];
  for (const role of ROLES) {
    const everywhere = { inProject: role, inTenant: role, inInstallation: role, anywhere: role, scopes: [] };
    callers.push({ label: `${role} of the installation`, token: await world.userToken(role), ...everywhere });
    const inProject = await world.userToken(null, [[{ projectId }, role]]);
    callers.push({ ...none, label: `${role} of the project`, token: inProject, inProject: role, anywhere: role });
  }
  const member = newId("usr");
  await world.user(member, null);
  const team = { teamId: newId("team"), tenantId, name: "team", createdAt: 1 };
  const { rights } = world.context.stores;
  await rights.createTeam(team);
  await rights.addToTeam(team.teamId, member);
  const area = { tenantId };
  await rights.bind({ subjectId: team.teamId, area, role: "operator", createdAt: 1, createdBy: "test" });
  callers.push({
    ...none,
    label: "member of a team that is operator of the tenant",
    token: await world.token(member),
    inProject: "operator",
    inTenant: "operator",
    anywhere: "operator",
  });
  const raised = await world.userToken("viewer", [[{ projectId }, "maintainer"]]);
  callers.push({
    label: "viewer of the installation who is maintainer of the project",
    token: raised,
    inProject: "maintainer",
    inTenant: "viewer",
    inInstallation: "viewer",
    anywhere: "maintainer",
    scopes: [],
  });
  const foreign = await world.userToken(null, [[{ tenantId: otherTenantId }, "owner"]]);
  callers.push({ ...none, label: "owner of another tenant", token: foreign, anywhere: "owner" });
  callers.push({ ...none, label: "user without a role", token: await world.userToken(null) });
  const owner = newId("usr");
  await world.user(owner, "owner");
  const everything = { inProject: "owner", inTenant: "owner", inInstallation: "owner", anywhere: "owner" } as const;
  for (const scope of ["read", "trigger", "write", "admin"]) {
    const token = await world.token(owner, [scope]);
    callers.push({ ...everything, label: `owner with a token narrowed to ${scope}`, token, scopes: [scope] });
  }
  return [...callers, ...(await narrowed(world, owner))];
}

/** Callers with tokens that count in some projects alone: of an owner of the installation, and of a tenant's operator. */
async function narrowed(world: World, owner: UserId): Promise<readonly RightsCaller[]> {
  const { projectId, tenantId, otherTenantId } = world;
  const own = { projectId, tenantId };
  const operator = newId("usr");
  await world.user(operator, null);
  const given = { area: { tenantId }, role: "operator", createdAt: 1, createdBy: "test" } as const;
  await world.context.stores.rights.bind({ subjectId: operator, ...given });
  const caller = async (
    label: string,
    subject: UserId,
    project: OwnedProject,
    roles: Pick<RightsCaller, "inProject" | "anywhere">,
    scopes: readonly string[] = [],
  ): Promise<RightsCaller> => {
    const token = await world.token(subject, scopes, { projects: [project] });
    return { label, token, ...roles, inTenant: null, inInstallation: null, isNarrowed: true, scopes };
  };
  const asOwner = { inProject: "owner", anywhere: "owner" } as const;
  const elsewhere = { projectId: newId("prj"), tenantId: otherTenantId };
  return [
    await caller("owner with a token narrowed to the project", owner, own, asOwner),
    await caller("owner with a token narrowed to read and to the project", owner, own, asOwner, ["read"]),
    await caller("operator of the tenant with a token narrowed to the project", operator, own, {
      inProject: "operator",
      anywhere: "operator",
    }),
    await caller("owner with a token narrowed to another project", owner, elsewhere, { ...asOwner, inProject: null }),
  ];
}

/** Tokens that prove nothing, each with its label. */
export async function worthlessTokens(world: World): Promise<readonly (readonly [string, string | null])[]> {
  const owner = newId("usr");
  await world.user(owner, "owner");
  const subject = { kind: "personal", subject: owner, name: "test" } as const;
  const expired = await issueToken(world.context, { ...subject, expiresInMs: -1 });
  const revoked = await issueToken(world.context, subject);
  await world.context.stores.identity.deleteToken(tokenIdOf(revoked));
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const seconds = Math.floor(world.context.clock.now() / 1_000);
  const claims = { iss: "millrace", sub: owner, iat: seconds, exp: seconds + 600 };
  const key = world.context.signingKey;
  const signed = (more: object): Promise<string> =>
    new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: "HS256" }).sign(key);
  const ofJob = new SignJWT({ iss: "millrace-job", run: world.runId, api: "write", exp: seconds + 600 })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(world.jobId);
  return [
    ["no token", null],
    ["an expired token", expired],
    ["a revoked token", revoked],
    ["a token with `alg: none`", `${part({ alg: "none", typ: "JWT" })}.${part(claims)}.`],
    ["an access token of another audience", await signed({ aud: "another-api" })],
    ["a login state in place of an access token", await signed({ iss: "millrace login state" })],
    ["a job's token for the API that was signed for another use", await ofJob.setAudience("another-use").sign(key)],
    ["an identity token of a job", await identityToken(world)],
    ["a token with `alg: none` and a signature", `${part({ alg: "none", typ: "JWT" })}.${part(claims)}.x`],
  ];
}

/** As a job gets it, with this installation as its audience. */
async function identityToken({ context, jobId }: World): Promise<string> {
  const { kid, privateKey } = await currentKey(context);
  return new SignJWT({ job_id: jobId })
    .setProtectedHeader({ alg: "RS256", kid, typ: "JWT" })
    .setIssuer("http://millrace.example")
    .setSubject("tenant:default:project:default:pipeline:pl:ref:main")
    .setAudience("http://millrace.example")
    .setIssuedAt(Math.floor(context.clock.now() / 1_000))
    .setExpirationTime("10m")
    .sign(privateKey);
}
