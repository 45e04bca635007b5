/** What lets a command of Git reach one repository: the checked addresses of its host, and the credential. */
import { type AddressChecks, checkedAddresses } from "./addresses.ts";
import { GitFault } from "./git-fault.ts";
import type { GitAccess, OpenAccess } from "./git-process.ts";
import { CREDENTIAL_SCRIPT, type Setting, TOKEN_USER } from "./git-settings.ts";
import { hostInUrl, type Remote } from "./remote.ts";
import { openSshAccess, type SshOptions } from "./ssh-access.ts";

export interface AccessOptions extends AddressChecks, SshOptions {
  /** PEM file of the authorities of servers, in place of the system's; null for these. */
  readonly caFile: string | null;
}

export function isPrivateKey(credential: string): boolean {
  return credential.startsWith("-----BEGIN");
}

/**
 * Opens the access to a repository. `credential`: a token, `user:password` or a private key of SSH; null for none. Throws
 * a {@link GitFault}.
 */
export async function openAccess(
  remote: Remote,
  credential: string | null,
  options: AccessOptions,
): Promise<OpenAccess> {
  const addresses = await checkedAddresses(remote, options);
  const value = credential?.trim() ?? "";
  if (remote.transport === "ssh") {
    if (value !== "" && !isPrivateKey(value)) {
      throw misfit("the secret holds no private key, and the repository is reached over SSH: store a deploy key in it");
    }
    return openSshAccess(remote, value, addresses[0]!, options);
  }
  if (isPrivateKey(value)) {
    throw misfit("the secret holds an SSH key, and the repository is reached over HTTPS: store a token in it");
  }
  if (/[\r\n\0]/.test(value)) throw misfit("the secret has several lines, and is no SSH key: store a token in it");
  return { ...httpAccess(remote, value, addresses, options.caFile), close: () => Promise.resolve() };
}

function httpAccess(remote: Remote, value: string, addresses: readonly string[], caFile: string | null): GitAccess {
  const { transport, host, port, user, url } = remote;
  const colon = value.indexOf(":");
  const name = colon === -1 ? (user ?? TOKEN_USER) : value.slice(0, colon);
  const password = value.slice(colon + 1);
  const listed = addresses.map((address) => (address.includes(":") ? `[${address}]` : address)).join(",");
  const settings: Setting[] = [
    ["remote.origin.url", url],
    ["http.curloptResolve", `${hostInUrl(remote)}:${port}:${listed}`],
    ...(caFile === null ? [] : [["http.sslCAInfo", caFile] as const]),
    ...(value === ""
      ? []
      : [[`credential.${transport}://${hostInUrl({ host })}:${port}.helper`, CREDENTIAL_SCRIPT] as const]),
  ];
  const env = { GIT_ALLOW_PROTOCOL: transport, MILLRACE_GIT_USER: name, MILLRACE_GIT_PASSWORD: password };
  const secrets = value === "" ? [] : [password, Buffer.from(`${name}:${password}`).toString("base64")];
  return { env, settings, secrets };
}

function misfit(text: string): GitFault {
  return new GitFault("authentication", text);
}
