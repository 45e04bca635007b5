/** The repositories of definitions, as this node reaches them. */
import { resolve } from "node:path";
import type { AppContext } from "../app/context.ts";
import type { GitSettings } from "../git-settings.ts";
import { GitRepositories } from "../git/git-repositories.ts";
import { hostKeysOfFile } from "../git/host-keys.ts";
import { addressRule, networkRule } from "../outgoing/addresses.ts";
import type { Teardown } from "./teardown.ts";

/** Makes nothing on the disk before the first use. */
export function openGit(settings: GitSettings, dataDir: string, teardown: Teardown): NonNullable<AppContext["git"]> {
  const { networks, knownHostsFile, caFile, committer, cacheBytes } = settings;
  const repositories = new GitRepositories({
    folder: resolve(dataDir, "git"),
    mayReach: addressRule(networks),
    isAllowed: networkRule(networks),
    hostKeys: hostKeysOfFile(knownHostsFile),
    caFile,
    bounds: { totalBytes: cacheBytes },
  });
  teardown.add("the copies of repositories", () => repositories.close());
  return { repositories, committer };
}
