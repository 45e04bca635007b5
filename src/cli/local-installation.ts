/** A whole installation on this machine, for `start` and `run`: a node of the control plane in this process, and an agent. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ACT_AS } from "../app/identity/access.ts";
import { signAccessToken } from "../app/identity/access-tokens.ts";
import { ensureAdministrator } from "../app/upkeep/bootstrap.ts";
import { issueToken, tokenIdOf } from "../app/identity/tokens.ts";
import type { AppContext } from "../app/context.ts";
import type { NodeConfig } from "../settings/config.ts";
import { optimiseForRuns } from "../node/compiler.ts";
import { agentDataDir, agentSocket } from "../node/data-dir.ts";
import { type StartedNode, startNode } from "../node/node.ts";
import { packageVersion } from "../node/package-root.ts";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { agentEnvironment } from "./agent-environment.ts";
import { settingsOf } from "./agent-keeper.ts";
import { startAgentProcess } from "./agent-process.ts";
import { ApiClient } from "./api-client.ts";
import { Teardown } from "../node/teardown.ts";

/** A slow machine with other work needs long to start the agent's process. */
const AGENT_WAIT_MS = 90_000;
const REGISTRATION_MS = 3_600_000;

export interface LocalInstallationOptions {
  readonly config: NodeConfig;
  /** The caller has claimed this directory. */
  readonly dataDir: string;
  readonly log: Logger;
  /** True when `log` writes to stderr. Then the agent logs to stderr too, otherwise to a file in the data directory. */
  readonly verboseLogs: boolean;
  /**
   * True when the agent and its steps live on for their leases after this process was killed, and the next installation
   * on `dataDir` takes them up. Otherwise they end at once.
   */
  readonly outlives: boolean;
  /** Called for each part once it is ready, in order. */
  readonly onReady: (part: string, how: string) => void;
  readonly signal: AbortSignal;
}

export interface LocalInstallation {
  readonly node: StartedNode;
  readonly api: ApiClient;
  readonly url: string;
  /** Issues another token of the administrator, for a user who has lost theirs but can reach the data directory. */
  newAdminToken(): Promise<string>;
  /** Ends the agent, then the node. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts the node and the agent. When a part fails or `signal` is aborted, ends what has started and rejects. Rejects with
 * `malformed_request` when TLS is configured for the API or the gateway.
 */
export async function startLocalInstallation(options: LocalInstallationOptions): Promise<LocalInstallation> {
  const { config, dataDir, log, onReady, signal } = options;
  const secured = config.tls.http ?? config.tls.grpc;
  if (secured !== null) {
    const text = `${secured.prefix}_CERT_FILE is for \`millrace serve\`: the parts of this command use plaintext over loopback; unset it`;
    throw new MillraceError("malformed_request", text);
  }
  const teardown = new Teardown(log);
  try {
    const node = await startNode(config, { dataDir, log, onReady, signal });
    teardown.add("the control plane", () => node.stop());
    const { context } = node;
    const administrator = await ensureAdministrator(context);
    const url = `http://${node.http}`;
    const api = new ApiClient({ baseUrl: url, token: () => signAccessToken(context, administrator.userId) });

    const registrationToken = await issueToken(context, {
      kind: "registration",
      subject: administrator.userId,
      name: "local agent",
      expiresInMs: REGISTRATION_MS,
    });
    teardown.add("the registration token", () => removeToken(context, registrationToken));
    const environment = agentEnvironment(process.env, {
      MILLRACE_GATEWAY: node.grpc ?? "",
      MILLRACE_REGISTRATION_TOKEN: registrationToken,
      MILLRACE_DATA_DIR: agentDataDir(dataDir),
    });
    const socket = options.outlives ? agentSocket(dataDir) : null;
    const agent = startAgentProcess({
      environment,
      keeping: socket === null ? null : { socket, settings: settingsOf(environment, packageVersion()) },
      logFile: options.verboseLogs ? null : join(dataDir, "agent.log"),
      log,
    });
    teardown.add("the agent", () => agent.stop());
    const slots = await waitForAgent(api, dataDir, signal);
    onReady("agent", `ready (${slots} jobs at a time)`);
    teardown.add("the looks for work", optimiseForRuns(node.context.begunRuns));
    return {
      node,
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

async function removeToken({ stores }: AppContext, token: string): Promise<void> {
  await stores.identity.deleteToken(tokenIdOf(token));
}
