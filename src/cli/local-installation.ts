/** Everything in one place: a control plane in this process with its own agent beside it, for `start` and `run`. */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ACT_AS } from "../app/identity/access.ts";
import { signAccessToken } from "../app/identity/access-tokens.ts";
import { ADMINISTRATOR } from "../app/upkeep/bootstrap.ts";
import { issueToken, tokenIdOf } from "../app/identity/tokens.ts";
import type { AppContext } from "../app/context.ts";
import type { NodeConfig } from "../config.ts";
import { type StartedNode, startNode } from "../node/node.ts";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { startAgentProcess } from "./agent-process.ts";
import { ApiClient } from "./api-client.ts";
import { Teardown } from "../node/teardown.ts";

const AGENT_WAIT_MS = 30_000;
const REGISTRATION_MS = 3_600_000;

export interface LocalInstallationOptions {
  readonly config: NodeConfig;
  /** Claimed by the caller. */
  readonly dataDir: string;
  readonly log: Logger;
  /** True when `log` writes to stderr; the agent then does so too, else to a file in the data directory. */
  readonly verboseLogs: boolean;
  /** Told of each part that is ready, in order. */
  readonly onReady: (part: string, how: string) => void;
  readonly signal: AbortSignal;
}

export interface LocalInstallation {
  readonly plane: StartedNode;
  readonly api: ApiClient;
  readonly url: string;
  /** A further token of the administrator: the way back in for whoever holds the installation itself. */
  newAdminToken(): Promise<string>;
  /** Ends the agent, then the control plane. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Rejects, with everything already started ended, when a part fails or `signal` is aborted; `malformed_request` where TLS is
 * configured for the API or the gateway.
 */
export async function startLocalInstallation(options: LocalInstallationOptions): Promise<LocalInstallation> {
  const { config, dataDir, log, onReady, signal } = options;
  const secured = config.tls.http ?? config.tls.grpc;
  if (secured !== null) {
    const text = `${secured.prefix}_CERT_FILE is for \`millrace serve\`: this command's parts speak with one another unencrypted, over loopback`;
    throw new MillraceError("malformed_request", text);
  }
  const teardown = new Teardown(log);
  try {
    const plane = await startNode(config, { dataDir, log, onReady, signal });
    teardown.add("the control plane", () => plane.stop());
    const { context } = plane;
    const administrator = await context.stores.identity.findUserByName(ADMINISTRATOR);
    if (administrator === undefined) throw new MillraceError("internal", "the administrator is missing");
    const url = `http://${plane.http}`;
    const api = new ApiClient({ baseUrl: url, token: () => signAccessToken(context, administrator.userId) });

    const registrationToken = await issueToken(context, {
      kind: "registration",
      subject: administrator.userId,
      name: "local agent",
      expiresInMs: REGISTRATION_MS,
    });
    teardown.add("the registration token", () => dropToken(context, registrationToken));
    const agent = startAgentProcess({
      environment: agentEnvironment(plane, dataDir, registrationToken),
      logFile: options.verboseLogs ? null : join(dataDir, "agent.log"),
      log,
    });
    teardown.add("the agent", () => agent.stop());
    const slots = await waitForAgent(api, dataDir, signal);
    onReady("agent", `ready (${slots} jobs at a time)`);
    return {
      plane,
      api,
      url,
      newAdminToken: () =>
        issueToken(context, { kind: "personal", subject: administrator.userId, name: "start", scopes: [ACT_AS] }),
      stop: () => teardown.end(),
    };
  } catch (error) {
    await teardown.end();
    throw error;
  }
}

function agentEnvironment(plane: StartedNode, dataDir: string, registrationToken: string): NodeJS.ProcessEnv {
  return {
    MILLRACE_AGENT_SLOTS: String(availableParallelism()),
    MILLRACE_AGENT_NAME: "local",
    LOG_LEVEL: "warn",
    ...process.env,
    MILLRACE_GATEWAY: plane.grpc ?? "",
    MILLRACE_REGISTRATION_TOKEN: registrationToken,
    MILLRACE_DATA_DIR: join(dataDir, "agent"),
  };
}

async function waitForAgent(api: ApiClient, dataDir: string, signal: AbortSignal): Promise<number> {
  for (const end = performance.now() + AGENT_WAIT_MS; performance.now() < end;) {
    const [agent] = await api.onlineAgents();
    if (agent !== undefined) return agent.slots;
    await sleep(50, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
  throw new MillraceError(
    "unavailable",
    `the agent did not come online within ${AGENT_WAIT_MS / 1_000} s: see ${join(dataDir, "agent.log")}`,
  );
}

async function dropToken({ stores }: AppContext, token: string): Promise<void> {
  await stores.identity.deleteToken(tokenIdOf(token));
}
