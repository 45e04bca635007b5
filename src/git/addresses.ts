/**
 * The addresses of a Git server: looked up once for each use, checked, and given to Git as they are. So a name that changes
 * between the check and the connection leads nowhere else.
 */
import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import type { AddressRule } from "../outgoing/addresses.ts";
import { GitFault } from "./git-fault.ts";
import type { Remote } from "./remote.ts";

/** All addresses of a name. Rejects as `dns.promises.lookup` does. */
export type LookUp = (name: string) => Promise<readonly Pick<LookupAddress, "address">[]>;

export interface AddressChecks {
  /** The public internet, and the networks that the operator allows. */
  readonly mayReach: AddressRule;
  /** The networks that the operator allows. */
  readonly isAllowed: AddressRule;
  readonly lookUp: LookUp;
}

/**
 * The addresses of the host that may be reached; at least one. Throws `unreachable` for a name without an address, and
 * `forbiddenAddress`: also for plain http to any network that the operator has not named, since everyone on the way
 * could read the credential.
 */
export async function checkedAddresses(remote: Remote, checks: AddressChecks): Promise<readonly string[]> {
  const { host, transport } = remote;
  const found = isIP(host) === 0 ? await addressesOf(host, checks.lookUp) : [host];
  const mayReach = transport === "http" ? checks.isAllowed : checks.mayReach;
  const reachable = found.filter((address) => mayReach(address));
  if (reachable.length > 0) return reachable;
  throw new GitFault("forbiddenAddress", refusalOf(remote, found.some(checks.mayReach)));
}

async function addressesOf(host: string, lookUp: LookUp): Promise<readonly string[]> {
  try {
    return (await lookUp(host)).map(({ address }) => address);
  } catch {
    throw new GitFault("unreachable", `the name ${host} cannot be resolved: check \`repoUrl\`, or try again later`);
  }
}

function refusalOf({ host, transport }: Remote, isPublic: boolean): string {
  const remedy = "an operator can allow its network with MILLRACE_GIT_NETWORKS";
  return transport === "http" && isPublic
    ? `${host} would be reached without encryption: write https:// or ssh://, or ${remedy}`
    : `${host} is not on the public internet: ${remedy}`;
}
