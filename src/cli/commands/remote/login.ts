/** `millrace login`, `logout`, `whoami` and `contexts`: which servers a user works with, and as whom. */
import { hostname } from "node:os";
import {
  fixedToken,
  type LoginTokens,
  logInByDevice,
  type MillraceClient,
} from "../../../../clients/typescript/src/index.ts";
import { CommandFailure, UsageError } from "../../command-line.ts";
import { EXIT } from "../../exit-codes.ts";
import { Contexts, type StoredCredentials } from "../../remote/contexts.ts";
import { parsePasswordLink, setPasswordByLink } from "../../remote/enter-by-link.ts";
import { permissionLines } from "../../remote/permissions.ts";
import { readSecret } from "../../remote/prompt.ts";
import { Report } from "../../remote/report.ts";
import { clientOf, parseServerUrl, type RemoteOptions, reporting, say, withServer } from "../../remote/session.ts";
import { visible } from "../../remote/visible.ts";

export interface LoginOptions extends RemoteOptions {
  readonly name?: string;
  readonly withToken?: boolean;
  readonly link?: string;
}

/** Logs in, and makes the context the current one. */
export function login(server: string | undefined, options: LoginOptions, signal: AbortSignal): Promise<number> {
  const report = new Report(options);
  return reporting(report, async () => {
    const contexts = new Contexts();
    const link = options.link === undefined ? undefined : parsePasswordLink(options.link);
    const url = parseServerUrl(server ?? link?.url ?? (await addressOf(contexts, options.context)));
    if (link !== undefined && url !== link.url) throw new UsageError(`the link is one of ${link.url}, not of ${url}`);
    warnOfPlaintext(url);
    const client = clientOf(url);
    const credentials = await prove(client, { ...options, passwordLink: link }, signal);
    const token = credentials.kind === "token" ? credentials.token : credentials.accessToken;
    const { user } = await clientOf(url, fixedToken(token)).get("/whoami", { signal });
    const name = options.context ?? contextNameOf(url);
    await contexts.write({ name, url, user: user.name, credentials });
    await contexts.use(name);
    report.object({ context: name, url, user: user.name }, `logged in to ${url} as ${user.name} (context ${name})`);
    if ((process.env["MILLRACE_URL"] ?? "") !== "") {
      say("warning: MILLRACE_URL is set, so commands use it, and contexts only with --context");
    }
    return EXIT.ok;
  });
}

interface Proof extends LoginOptions {
  readonly passwordLink: ReturnType<typeof parsePasswordLink> | undefined;
}

async function prove(client: MillraceClient, options: Proof, signal: AbortSignal): Promise<StoredCredentials> {
  const { withToken = false, name, passwordLink } = options;
  if ([withToken, name !== undefined, passwordLink !== undefined].filter(Boolean).length > 1) {
    throw new UsageError("--with-token, --name and --link exclude each other");
  }
  if (withToken) return { kind: "token", token: (await readSecret("Token")).trim() };
  if (passwordLink !== undefined) {
    const password = await readSecret("New password");
    const user = await setPasswordByLink(client, passwordLink, password, signal);
    return { kind: "login", ...(await logInByPassword(client, user, password, signal)) };
  }
  if (name !== undefined) {
    const password = await readSecret(`Password of ${name}`);
    return { kind: "login", ...(await logInByPassword(client, name, password, signal)) };
  }
  const tokens = await logInByDevice(client, {
    clientId: `millrace on ${hostname()}`,
    onCode({ verification_uri_complete: whole, verification_uri: address, user_code: code, expires_in: seconds }) {
      say(`Open ${visible(whole)}`);
      say(`or ${visible(address)}, and confirm the code ${visible(code)}`);
      say(`Waiting for the confirmation, for at most ${Math.round(seconds / 60)} minutes ...`);
    },
    signal,
  });
  return { kind: "login", ...tokens };
}

async function logInByPassword(
  client: MillraceClient,
  name: string,
  password: string,
  signal: AbortSignal,
): Promise<LoginTokens> {
  // A wrong password must not count several times.
  const call = { body: { name, password, refresh: true }, signal, retries: 0 };
  const { accessToken, refreshToken = "", expiresIn } = await client.post("/auth/login", call);
  return { accessToken, refreshToken, expiresAt: Date.now() + expiresIn * 1_000 };
}

/** Ends the login and forgets the context. */
export function logout(options: RemoteOptions, signal: AbortSignal): Promise<number> {
  const report = new Report(options);
  return reporting(report, async () => {
    const contexts = new Contexts();
    const name = options.context ?? (await contexts.current());
    const context = name === undefined ? undefined : await contexts.read(name);
    if (name === undefined || context === undefined) {
      throw new CommandFailure("there is no such login", EXIT.usage, { next: "millrace contexts" });
    }
    if (context.credentials.kind === "login") {
      const end = async () => {
        await withServer({ context: name }, signal, async ({ client }) => {
          await client.post("/auth/logout");
        });
      };
      await end().catch((error: Error) => say(`warning: the server keeps the session: ${error.message}`));
    } else {
      say("the token stays valid; `millrace tokens delete` revokes it");
    }
    await contexts.remove(name);
    report.object({ context: name, url: context.url }, `logged out of ${context.url} (context ${name})`);
    return EXIT.ok;
  });
}

/** Shows the caller, and what the caller may do. */
export function whoami(options: RemoteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report, url }) => {
    const found = await client.get("/whoami", { signal });
    const { user, scopes, bound, operations } = found;
    const places = bound.map(({ area, role }) => `${role} in ${"projectId" in area ? area.projectId : area.tenantId}`);
    report.object(
      found,
      `${user.name} on ${url}`,
      `role     ${[user.role ?? "none in the installation", ...places].join(", ")}`,
      `scopes   ${scopes.length === 0 ? "all of the role" : scopes.join(", ")}`,
      ...permissionLines(operations, process.stdout.columns),
    );
  });
}

/** Lists the contexts; never their credentials. */
export function listContexts(options: RemoteOptions): Promise<number> {
  const report = new Report(options);
  return reporting(report, async () => {
    const contexts = new Contexts();
    const current = await contexts.current();
    const rows = [];
    for (const name of await contexts.list()) {
      const context = await contexts.read(name);
      if (context === undefined) continue;
      const { url, user, credentials } = context;
      rows.push({ name, url, user, login: credentials.kind, current: name === current });
    }
    report.list(
      rows,
      [
        { title: "", text: ({ current: isCurrent }) => (isCurrent ? "*" : "") },
        { title: "context", text: ({ name }) => name },
        { title: "server", text: ({ url }) => url },
        { title: "user", text: ({ user }) => user },
        { title: "by", text: ({ login: kind }) => kind },
      ],
      "no contexts; `millrace login URL` makes one",
    );
    return EXIT.ok;
  });
}

export function useContext(name: string, options: RemoteOptions): Promise<number> {
  const report = new Report(options);
  return reporting(report, async () => {
    const contexts = new Contexts();
    const context = await contexts.read(name);
    if (context === undefined) {
      throw new CommandFailure(`there is no context "${visible(name)}"`, EXIT.usage, { next: "millrace contexts" });
    }
    await contexts.use(name);
    report.object({ context: name, url: context.url }, `the current context is ${name}: ${context.url}`);
    return EXIT.ok;
  });
}

/** The server of the context that is named or current, else MILLRACE_URL. */
async function addressOf(contexts: Contexts, named: string | undefined): Promise<string> {
  const name = named ?? (await contexts.current());
  const context = name === undefined ? undefined : await contexts.read(name);
  const url = context?.url ?? process.env["MILLRACE_URL"] ?? "";
  if (url === "") throw new UsageError("name the server: millrace login https://ci.example");
  return url;
}

function contextNameOf(url: string): string {
  const { host, pathname } = new URL(url);
  const name = (host + pathname).replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "");
  return name.slice(0, 64);
}

function warnOfPlaintext(url: string): void {
  const { protocol, hostname: host } = new URL(url);
  const isLocal = host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
  if (protocol === "http:" && !isLocal) say(`warning: ${url} is not encrypted: others can read your token on its way`);
}
