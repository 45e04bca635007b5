/** `millrace tokens`: personal tokens, of the caller or, for administrators, of another user. */
import { findProject, findUser } from "../../remote/find.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";

export interface TokenOptions extends RemoteOptions {
  /** The name or id of a user; the caller when absent. */
  readonly user?: string;
}

export function listTokens(options: TokenOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = { userId: await userIdOf(client, options) };
    const { list } = await client.get("/users/{userId}/tokens", { path, signal });
    report.list(
      list,
      [
        { title: "name", text: ({ name }) => name },
        { title: "scopes", text: ({ scopes }) => scopes.join(",") || "all" },
        { title: "projects", text: ({ projects }) => projects?.join(",") ?? "all" },
        { title: "expires", text: ({ expiresAt }) => expiresAt ?? "never" },
        { title: "last used", text: ({ lastUsedAt }) => lastUsedAt ?? "-" },
        { title: "id", text: ({ tokenId }) => tokenId },
      ],
      "no tokens; `millrace tokens create NAME` makes one",
    );
  });
}

export interface CreateOptions extends TokenOptions {
  readonly scope: readonly Scope[];
  /** Names or ids; none for all projects. */
  readonly project: readonly string[];
  readonly expiresIn?: string;
}

export type Scope = "admin" | "write" | "trigger" | "read" | "act-as";

export function createToken(name: string, options: CreateOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { scope, expiresIn } = options;
    const projects: string[] = [];
    for (const project of options.project) projects.push((await findProject(client, project)).projectId);
    const body = {
      name,
      ...(scope.length === 0 ? {} : { scopes: [...scope] }),
      ...(projects.length === 0 ? {} : { projects }),
      ...(expiresIn === undefined ? {} : { expiresIn }),
    };
    const path = { userId: await userIdOf(client, options) };
    const made = await client.post("/users/{userId}/tokens", { path, body, signal });
    report.secret(made, made.token, "the token is shown only now");
  });
}

export function deleteToken(tokenId: string, options: TokenOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = { userId: await userIdOf(client, options), tokenId };
    await client.delete("/users/{userId}/tokens/{tokenId}", { path, signal });
    report.object({ tokenId, deleted: true }, `deleted ${tokenId}`);
  });
}

async function userIdOf(client: Parameters<typeof findUser>[0], { user = "me" }: TokenOptions): Promise<string> {
  return user === "me" ? "me" : (await findUser(client, user)).userId;
}
