/**
 * Gives Git a credential for the host of one repository only. Hosts of redirects and of submodules do not get it. The
 * credential is never written to a file or an argument: a password is in the environment of the commands that fetch,
 * and a key is in the memory of an ssh-agent.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CREDENTIAL_SCRIPT, TOKEN_USER } from "../../../git/git-settings.ts";
import type { Repository } from "./checkout-args.ts";
import { CheckoutProblem } from "./checkout-problem.ts";
import type { GitAccess } from "./git.ts";

const NO_ACCESS: GitAccess = { env: {}, settings: [] };
/** Longer paths cannot be paths of a socket. */
const MAX_SOCKET_PATH = 100;

export interface OpenAccess extends GitAccess {
  /** Ends the ssh-agent, if one was started. */
  close(): void;
}

/**
 * Prepares the access to the repository. Only this user may read `folder`. Rejects with a {@link CheckoutProblem} for a
 * credential that does not fit the repository.
 */
export async function openAccess(repository: Repository, credential: string, folder: string): Promise<OpenAccess> {
  const value = credential.trim();
  if (value === "") return { ...NO_ACCESS, close: () => {} };
  const isKey = value.startsWith("-----BEGIN");
  switch (repository.transport) {
    case "ssh":
      if (isKey) return openKey(repository.credentialScope, value, folder);
      throw misfit("the credential is no private key, and the repository is reached over SSH");
    case "http":
      if (isKey) throw misfit("the credential is an SSH key, and the repository is reached over HTTP");
      return { ...passwordFor(repository, value), close: () => {} };
    default:
      throw misfit(`a repository at ${repository.transport}:// takes no credential`);
  }
}

function passwordFor({ url, credentialScope }: Repository, value: string): GitAccess {
  if (/[\r\n\0]/.test(value)) throw misfit("the credential has several lines and is no SSH key");
  const named = decodeURIComponent(new URL(url).username);
  const colon = value.indexOf(":");
  const user = colon === -1 ? named || TOKEN_USER : value.slice(0, colon);
  return {
    env: { MILLRACE_GIT_USER: user, MILLRACE_GIT_PASSWORD: value.slice(colon + 1) },
    settings: [[`credential.${credentialScope}.helper`, CREDENTIAL_SCRIPT]],
  };
}

async function openKey(host: string, key: string, folder: string): Promise<OpenAccess> {
  const socket = join(folder, "agent");
  if (socket.length > MAX_SOCKET_PATH) {
    throw new CheckoutProblem("noGit", "the path of the agent's data directory is too long for an SSH key: shorten it");
  }
  const agent = spawn("ssh-agent", ["-D", "-a", socket], { stdio: ["ignore", "pipe", "ignore"] });
  const close = (): void => void agent.kill("SIGKILL");
  try {
    await Promise.race([
      once(agent.stdout, "data"),
      once(agent, "exit").then(() => Promise.reject(noSsh("ssh-agent ended at once"))),
      once(agent, "error").then(([error]: unknown[]) => Promise.reject(noSsh((error as Error).message))),
    ]);
    await addKey(key, socket);
  } catch (error) {
    close();
    throw error;
  }
  const file = join(folder, "ssh_config");
  writeFileSync(file, sshConfig(host, socket), { mode: 0o600, flag: "wx" });
  return { env: { GIT_SSH_COMMAND: `ssh -F '${file.replaceAll("'", `'\\''`)}'` }, settings: [], close };
}

async function addKey(key: string, socket: string): Promise<void> {
  const env = { ...process.env, SSH_AUTH_SOCK: socket, SSH_ASKPASS_REQUIRE: "never" };
  const adding = spawn("ssh-add", ["-q", "-"], { env, stdio: ["pipe", "ignore", "ignore"] });
  adding.stdin.on("error", () => {}); // "exit" follows.
  adding.stdin.end(`${key}\n`);
  const [code] = (await once(adding, "exit").catch((error: Error) => Promise.reject(noSsh(error.message)))) as [number];
  if (code === 0) return;
  throw misfit("the credential is an SSH key that cannot be used: it is damaged, or has a passphrase");
}

/** For ssh the first value of a setting counts, so the settings of the user and the machine come last. */
function sshConfig(host: string, socket: string): string {
  return [
    `Match originalhost ${host}`,
    `IdentityAgent "${socket}"`,
    "IdentityFile none",
    "Match all",
    "BatchMode yes",
    "ConnectTimeout 30",
    "ServerAliveInterval 15",
    "Include ~/.ssh/config",
    "Include /etc/ssh/ssh_config",
    "",
  ].join("\n");
}

function misfit(text: string): CheckoutProblem {
  return new CheckoutProblem("authentication", text);
}

function noSsh(why: string): CheckoutProblem {
  return new CheckoutProblem("noGit", `an SSH key takes ssh-agent and ssh-add on the agent's machine: ${why}`);
}
