/** Where the API of a repository's host is, and how it names the repository. */
import { hostInUrl, type Remote, repositoryPath } from "../git/remote.ts";
import { BITBUCKET } from "./bitbucket.ts";
import type { Dialect } from "./dialect.ts";
import { GITEA } from "./gitea.ts";
import { GITHUB } from "./github.ts";
import { GITLAB } from "./gitlab.ts";
import type { ProviderName } from "./provider.ts";

export const DIALECTS: Readonly<Record<ProviderName, Dialect>> = {
  github: GITHUB,
  gitlab: GITLAB,
  gitea: GITEA,
  forgejo: GITEA,
  bitbucket: BITBUCKET,
};

const KNOWN_HOSTS: Readonly<Record<string, ProviderName>> = {
  "github.com": "github",
  "ssh.github.com": "github",
  "gitlab.com": "gitlab",
  "altssh.gitlab.com": "gitlab",
  "gitea.com": "gitea",
  "codeberg.org": "forgejo",
  "bitbucket.org": "bitbucket",
  "altssh.bitbucket.org": "bitbucket",
};

/** GitHub Enterprise Cloud with data residency: `NAME.ghe.com`. */
const DATA_RESIDENCY = ".ghe.com";

export interface ProviderPlace {
  readonly name: ProviderName;
  /** Without a slash at its end. */
  readonly api: string;
  /** The parts of the repository's path: the owner and the name, or with the groups of GitLab. */
  readonly repository: readonly string[];
}

/** The provider that follows from the address; undefined for a host of one's own. */
export function providerOfHost({ host }: Pick<Remote, "host">): ProviderName | undefined {
  const name = host.toLowerCase();
  return name.endsWith(DATA_RESIDENCY) ? "github" : KNOWN_HOSTS[name];
}

/** The place of a repository at its host, or what is wrong with the address, in the form `must ...`. */
export function placeOf(remote: Remote, name: ProviderName): ProviderPlace | string {
  const repository = repositoryPath(remote).split("/");
  const [least, most] = DIALECTS[name].parts;
  if (repository.length < least || repository.length > most || repository.includes("")) {
    return `must end in ${most === 2 ? "OWNER/REPOSITORY" : "GROUP/REPOSITORY"}, as repositories at ${name} do`;
  }
  const api = apiOf(remote, name);
  return api === undefined
    ? "must be at bitbucket.org: of Bitbucket, only the cloud is known"
    : { name, api, repository };
}

function apiOf(remote: Remote, name: ProviderName): string | undefined {
  const { transport, port } = remote;
  const host = remote.host.toLowerCase();
  const isKnown = KNOWN_HOSTS[host] === name;
  const web = transport === "ssh" ? `https://${hostInUrl(remote)}` : `${transport}://${hostInUrl(remote)}:${port}`;
  switch (name) {
    case "github":
      if (isKnown) return "https://api.github.com";
      return host.endsWith(DATA_RESIDENCY) ? `https://api.${host}` : `${web}/api/v3`;
    case "gitlab":
      return isKnown ? "https://gitlab.com/api/v4" : `${web}/api/v4`;
    case "gitea":
    case "forgejo":
      return `${web}/api/v1`;
    case "bitbucket":
      return isKnown ? "https://api.bitbucket.org/2.0" : undefined;
  }
}
