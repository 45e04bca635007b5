/** `millrace users`: lists, invites, changes and deletes users of a server. */
import type { Schemas } from "../../../../clients/typescript/src/index.ts";
import { UsageError } from "../../command-line.ts";
import { findProject, findTeamId, findTenantId, findUser } from "../../remote/find.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";

export type Role = NonNullable<Schemas["User"]["role"]>;

export function listUsers(options: RemoteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { list } = await client.get("/users", { signal });
    report.list(
      list,
      [
        { title: "name", text: ({ name }) => name },
        { title: "role", text: ({ role }) => role ?? "-" },
        { title: "state", text: stateOf, colour: ({ disabled }) => (disabled ? "red" : undefined) },
        { title: "e-mail", text: ({ email }) => email ?? "" },
        { title: "id", text: ({ userId }) => userId },
      ],
      "no users",
    );
  });
}

export interface InviteOptions extends RemoteOptions {
  /** In the installation. */
  readonly role?: Role;
  readonly inTenant: readonly RoleIn[];
  readonly inProject: readonly RoleIn[];
  readonly team: readonly string[];
  readonly email?: string;
  readonly days?: number;
}

/** A role in a tenant or a project, which is named by its name or id. */
export interface RoleIn {
  readonly place: string;
  readonly role: Role;
}

/** Creates a user, and a link with which the user chooses a password. */
export function inviteUser(name: string, options: InviteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { role, email, days } = options;
    const bound: { area: { tenantId: string } | { projectId: string }; role: Role }[] = [];
    for (const { place, role: given } of options.inTenant) {
      bound.push({ area: { tenantId: await findTenantId(client, place) }, role: given });
    }
    for (const { place, role: given } of options.inProject) {
      bound.push({ area: { projectId: (await findProject(client, place)).projectId }, role: given });
    }
    const teams: string[] = [];
    for (const team of options.team) teams.push(await findTeamId(client, team));
    if (role === undefined && bound.length + teams.length === 0) {
      throw new UsageError("say what the user may do: --role, --in-tenant, --in-project or --team");
    }
    const body = {
      name,
      ...(role === undefined ? {} : { role }),
      ...(bound.length === 0 ? {} : { bound }),
      ...(teams.length === 0 ? {} : { teams }),
      ...(email === undefined ? {} : { email }),
      ...(days === undefined ? {} : { days }),
    };
    const made = await client.post("/invitations", { body, signal });
    report.secret(
      made,
      made.link,
      `send this link to ${name}; it is good once, until ${made.expiresAt}, in a browser or by \`millrace login --link\``,
    );
  });
}

export interface RenewOptions extends RemoteOptions {
  readonly days?: number;
}

/** A link in place of one that was lost. The server finds the user: who invites into a tenant does not see all users. */
export function renewInvitation(name: string, options: RenewOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const body = options.days === undefined ? {} : { days: options.days };
    const made = await client.post("/invitations/{user}/link", { path: { user: name }, body, signal });
    report.secret(made, made.link, `send this link to ${name}; it is good once, until ${made.expiresAt}`);
  });
}

/** A link with which the user sets a new password. */
export function resetUser(name: string, options: RemoteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { userId } = await findUser(client, name);
    const made = await client.post("/users/{userId}/reset-link", { path: { userId }, body: {}, signal });
    report.secret(made, made.link, `send this link to ${name}; it is good once, until ${made.expiresAt}`);
  });
}

export interface UserChange {
  readonly role?: Role | null;
  readonly disabled?: boolean;
}

export function changeUser(
  name: string,
  change: UserChange,
  options: RemoteOptions,
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { userId } = await findUser(client, name);
    const user = await client.patch("/users/{userId}", { path: { userId }, body: change, signal });
    report.object(user, `${user.name} is ${user.role ?? "without a role"}, ${stateOf(user)}`);
  });
}

export function deleteUser(name: string, options: RemoteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { userId } = await findUser(client, name);
    await client.delete("/users/{userId}", { path: { userId }, signal });
    report.object({ userId, deleted: true }, `deleted ${name}`);
  });
}

function stateOf({ disabled, hasPassword, ownedBy }: Schemas["User"]): string {
  if (disabled) return "disabled";
  if (ownedBy !== undefined) return "active, a service account";
  return hasPassword ? "active" : "active, without a password";
}
