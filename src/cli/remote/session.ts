/** The frame of the commands that call a server: which server, with which credentials, and how failures end. */
import {
  type Credentials,
  fixedToken,
  LogStream,
  MillraceClient,
  RefreshingCredentials,
  type RetryNotice,
  type TokenStore,
} from "../../../clients/typescript/src/index.ts";
import { CommandFailure, UsageError } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";
import type { RunSource } from "../follow-run.ts";
import { openSocket } from "../open-socket.ts";
import { type Context, Contexts } from "./contexts.ts";
import { failureOf } from "./failure.ts";
import { Report } from "./report.ts";

/** Options of every command that calls a server. */
export interface RemoteOptions {
  readonly context?: string;
  readonly json?: boolean;
}

/** What a command works with. */
export interface Session {
  readonly client: MillraceClient;
  readonly report: Report;
  readonly signal: AbortSignal;
  /** Runs and their logs, for following them. */
  readonly runs: RunSource;
  /** The server, for messages. */
  readonly url: string;
}

/** A message for people, beside the results. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Runs a command with a client of the chosen server. Its errors are those of {@link failureOf}. */
export async function withServer(
  options: RemoteOptions,
  signal: AbortSignal,
  command: (session: Session) => Promise<number | void>,
): Promise<number> {
  const report = new Report(options);
  return reporting(report, async () => {
    const { url, credentials } = await chooseServer(options.context);
    const client = clientOf(url, credentials);
    const runs = sourceOf(client);
    return (await command({ client, report, signal, runs, url })) ?? EXIT.ok;
  });
}

/** Ends a command as its error says; with `--json`, the error is JSON on stderr. */
export async function reporting(report: Report, command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (error) {
    const failure = failureOf(error);
    if (!report.isJson) throw failure;
    if (failure instanceof UsageError) throw new CommandFailure(failure.message, EXIT.usage).asJson();
    throw failure instanceof CommandFailure ? failure.asJson() : failure;
  }
}

export function clientOf(url: string, credentials?: Credentials | string): MillraceClient {
  return new MillraceClient({ baseUrl: url, credentials, onRetry: tellRetry });
}

/** The address of a server as a user types it. Throws a UsageError. */
export function parseServerUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new UsageError(`${text}: must be a URL such as https://ci.example`);
  }
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") throw new UsageError("the URL may not hold a name or a password");
  return (url.origin + url.pathname).replace(/\/+$/, "").replace(/\/api\/v1$/, "");
}

interface Server {
  readonly url: string;
  readonly credentials: Credentials;
}

/** The context that is named, else MILLRACE_URL with MILLRACE_TOKEN, else the current context. */
async function chooseServer(named: string | undefined): Promise<Server> {
  const contexts = new Contexts();
  if (named === undefined) {
    const url = process.env["MILLRACE_URL"] ?? "";
    if (url !== "") {
      const token = process.env["MILLRACE_TOKEN"] ?? "";
      if (token === "") throw new UsageError("MILLRACE_URL needs a token of that server in MILLRACE_TOKEN");
      return { url: parseServerUrl(url), credentials: fixedToken(token) };
    }
  }
  const name = named ?? (await contexts.current());
  const context = name === undefined ? undefined : await contexts.read(name);
  if (context !== undefined) return { url: context.url, credentials: credentialsOf(contexts, context) };
  const known = await contexts.list();
  const names = `the contexts are ${known.join(", ")}`;
  if (named !== undefined) {
    const next = known.length === 0 ? "millrace login URL" : names;
    throw new CommandFailure(`there is no context "${named}"`, EXIT.usage, { next });
  }
  throw new CommandFailure("no server is chosen", EXIT.unauthenticated, {
    next:
      known.length === 0
        ? "millrace login URL, or set MILLRACE_URL and MILLRACE_TOKEN"
        : `millrace contexts use NAME (${names}), or millrace login URL`,
  });
}

function credentialsOf(contexts: Contexts, context: Context): Credentials {
  const { credentials, url } = context;
  if (credentials.kind === "token") return fixedToken(credentials.token);
  // The file is read again each time, because another command may have renewed the login meanwhile.
  const store: TokenStore = {
    async load() {
      const stored = (await contexts.read(context.name))?.credentials;
      return stored?.kind === "login" ? stored : undefined;
    },
    save: (tokens) => contexts.write({ ...context, credentials: { kind: "login", ...tokens } }),
  };
  const client = clientOf(url);
  return new RefreshingCredentials({ store, refresh: (token) => client.refresh(token) });
}

function sourceOf(client: MillraceClient): RunSource {
  return {
    // The one who follows a run says by itself that the server does not answer.
    run: (runId, signal) => client.get("/pipelines/runs/{runId}", { path: { runId }, signal, retries: 0 }),
    logs: (options) => new LogStream(client, { ...options, openSocket }),
  };
}

function tellRetry({ error, delayMs }: RetryNotice): void {
  if (delayMs >= 1_000) say(`${error.message}; trying again in ${Math.ceil(delayMs / 1_000)} s`);
}
