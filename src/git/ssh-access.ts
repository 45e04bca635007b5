/**
 * Access over SSH: the machine's OpenSSH with settings of its own alone, the key in a file that only this user may read,
 * the checked address, and the pinned keys of the host.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findOnPath } from "../program-path.ts";
import { GitFault } from "./git-fault.ts";
import type { OpenAccess } from "./git-process.ts";
import { fingerprintOf, type HostKeys, nameOf, scanHostKeys } from "./host-keys.ts";
import type { Remote } from "./remote.ts";

export interface SshOptions {
  /** Where files that only this user may read are made. */
  readonly folder: string;
  readonly hostKeys: HostKeys;
}

/**
 * Throws `unknownHostKey` with the fingerprint of the key that the server shows, and `noSsh` where the machine has no ssh.
 */
export async function openSshAccess(
  remote: Remote,
  key: string,
  address: string,
  { folder, hostKeys }: SshOptions,
): Promise<OpenAccess> {
  const { host, port, url } = remote;
  if (findOnPath("ssh") === undefined) {
    throw new GitFault(
      "noSsh",
      "this node's machine has no `ssh`: install OpenSSH's client, or use an https:// address",
    );
  }
  const known = await hostKeys.keysOf(host, port);
  if (known.length === 0) throw await unknownHost(remote, address);
  const own = await mkdtemp(join(folder, "ssh-"));
  const close = (): Promise<void> => rm(own, { recursive: true, force: true });
  try {
    const lines = known.map((one) => `${nameOf(host, port)} ${one}\n`);
    await writeFile(join(own, "known_hosts"), lines.join(""), { mode: 0o600, flag: "wx" });
    if (key !== "") await writeFile(join(own, "key"), `${key}\n`, { mode: 0o600, flag: "wx" });
    const config = sshConfig({ own, address, alias: nameOf(host, port), hasKey: key !== "" });
    await writeFile(join(own, "config"), config, { mode: 0o600, flag: "wx" });
  } catch (error) {
    await close();
    throw error;
  }
  const command = `ssh -F '${join(own, "config").replaceAll("'", `'\\''`)}'`;
  return {
    env: { GIT_ALLOW_PROTOCOL: "ssh", GIT_SSH_COMMAND: command, GIT_SSH_VARIANT: "ssh" },
    settings: [["remote.origin.url", url]],
    secrets: [],
    close,
  };
}

function sshConfig(given: {
  readonly own: string;
  readonly address: string;
  readonly alias: string;
  readonly hasKey: boolean;
}): string {
  const { own, address, alias, hasKey } = given;
  return [
    "Host *",
    `HostName ${address}`,
    `HostKeyAlias ${alias}`,
    "StrictHostKeyChecking yes",
    "CheckHostIP no",
    "UpdateHostKeys no",
    `UserKnownHostsFile "${join(own, "known_hosts")}"`,
    "GlobalKnownHostsFile /dev/null",
    "BatchMode yes",
    "PreferredAuthentications publickey",
    "IdentitiesOnly yes",
    "IdentityAgent none",
    `IdentityFile ${hasKey ? `"${join(own, "key")}"` : "none"}`,
    "ForwardAgent no",
    "ForwardX11 no",
    "ControlMaster no",
    "ControlPath none",
    "ProxyCommand none",
    "PermitLocalCommand no",
    "ConnectTimeout 10",
    "ServerAliveInterval 10",
    "ServerAliveCountMax 2",
    "",
  ].join("\n");
}

async function unknownHost({ host, port }: Remote, address: string): Promise<GitFault> {
  const [shown] = await scanHostKeys(address, port);
  const name = nameOf(host, port);
  const what =
    shown === undefined
      ? `the keys of the SSH server ${name} are not known here, and it shows none now`
      : `the SSH server ${name} shows the key ${fingerprintOf(shown)}, which is not known here`;
  const line = `${name} ${shown ?? "ssh-ed25519 AAAA..."}`;
  const remedy = `compare the fingerprint with the one that the host publishes, and then add the line "${line}" to the file that MILLRACE_GIT_KNOWN_HOSTS_FILE names`;
  return new GitFault("unknownHostKey", `${what}: ${remedy}`);
}
