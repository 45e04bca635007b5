/** The repositories of definitions, as this node reaches them. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { AppContext } from "../app/context.ts";
import type { Clock } from "../domain/clock.ts";
import type { GitSettings } from "../settings/git.ts";
import { GitRepositories } from "../git/git-repositories.ts";
import { hostKeysOfFile } from "../git/host-keys.ts";
import { addressRule, networkRule } from "../outgoing/addresses.ts";
import { type SendRequest, requestSender } from "../outgoing/requests.ts";
import { InstallationTokens } from "../providers/installation-tokens.ts";
import { openProvider } from "../providers/provider-client.ts";
import type { Teardown } from "./teardown.ts";

/** The answer about one pull request of GitHub has some 30 kB. */
const MAX_ANSWER_BYTES = 1_000_000;
/** A save makes up to three calls within the 30 s of its own. */
const API_TIMEOUT_MS = 6_000;

/** Makes nothing on the disk before the first use. */
export function openGit(
  settings: GitSettings,
  dataDir: string,
  clock: Clock,
  teardown: Teardown,
): NonNullable<AppContext["git"]> {
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
  const send = apiSender(settings);
  return {
    repositories,
    committer,
    openProvider: (place, credential) => openProvider(place, credential, send),
    appTokens: new InstallationTokens({ send, clock }),
  };
}

/** Calls of the APIs of hosts follow the rules of their repositories: which networks, and where without encryption. */
export function apiSender({ networks, caFile }: Pick<GitSettings, "networks" | "caFile">): SendRequest {
  const options = {
    maxAnswerBytes: MAX_ANSWER_BYTES,
    withHeaders: true,
    timeoutMs: API_TIMEOUT_MS,
    setting: "MILLRACE_GIT_NETWORKS",
    ...(caFile !== null && { ca: () => readFile(caFile, "utf8") }),
  };
  const encrypted = requestSender(addressRule(networks), options);
  const plain = requestSender(networkRule(networks), options);
  return (request, signal) => (request.url.startsWith("https:") ? encrypted : plain)(request, signal);
}
