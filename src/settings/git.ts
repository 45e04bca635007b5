/** The settings of definitions in Git: their rows in the table of settings, and their checks. */
import { z } from "zod";
import { BYTES_OF_UNIT, type Network, networks, size } from "./values.ts";
import type { Setting } from "./setting.ts";

export const GIT_SETTING_ROWS = {
  MILLRACE_GIT_NETWORKS: {
    group: "Definitions in Git",
    standard: null,
    without: "none",
    meaning:
      "Networks beside the public internet in which [repositories](git.md) may be, such as `10.0.0.0/8`, separated by commas. Only there `http://` is allowed. The same on all nodes.",
  },
  MILLRACE_GIT_KNOWN_HOSTS_FILE: {
    group: "Definitions in Git",
    standard: null,
    without: "no SSH server is known",
    meaning: "The [keys of SSH servers](git.md#ssh), in the format of `known_hosts`. A change counts at once.",
  },
  MILLRACE_GIT_CA_FILE: {
    group: "Definitions in Git",
    standard: null,
    without: "the system's authorities",
    meaning: "PEM file of the authorities that sign the certificates of Git servers.",
  },
  MILLRACE_GIT_COMMITTER: {
    group: "Definitions in Git",
    standard: "millrace <millrace@localhost>",
    meaning: "The committer of [saved definitions](git.md#save); their author is the editor.",
  },
  MILLRACE_GIT_CACHE_LIMIT: {
    group: "Definitions in Git",
    standard: "2GB",
    meaning: "Disk space in the data directory for copies of repositories, which may be thrown away at any time.",
  },
} as const satisfies Record<string, Setting>;

const IDENTITY = /^([^<>\p{C}]+) <([^\s<>@]+@[^\s<>@]+)>$/u;

const identity = z.string().transform((text, check): { readonly name: string; readonly email: string } => {
  const [, name, email] = IDENTITY.exec(text) ?? [];
  if (name !== undefined && email !== undefined) return { name, email };
  check.addIssue("must be a name with an e-mail address, such as millrace <ci@example.com>");
  return z.NEVER;
});

export const GIT_SETTINGS = {
  MILLRACE_GIT_NETWORKS: networks.default([]),
  MILLRACE_GIT_KNOWN_HOSTS_FILE: z.string().optional(),
  MILLRACE_GIT_CA_FILE: z.string().optional(),
  MILLRACE_GIT_COMMITTER: identity.default({ name: "millrace", email: "millrace@localhost" }),
  MILLRACE_GIT_CACHE_LIMIT: size.default(2 * BYTES_OF_UNIT.GB),
} as const;

export interface GitSettings {
  readonly networks: readonly Network[];
  readonly knownHostsFile: string | null;
  readonly caFile: string | null;
  readonly committer: { readonly name: string; readonly email: string };
  readonly cacheBytes: number;
}

const settings = z.object(GIT_SETTINGS);

export function gitSettings(read: z.output<typeof settings>): GitSettings {
  return {
    networks: read.MILLRACE_GIT_NETWORKS,
    knownHostsFile: read.MILLRACE_GIT_KNOWN_HOSTS_FILE ?? null,
    caFile: read.MILLRACE_GIT_CA_FILE ?? null,
    committer: read.MILLRACE_GIT_COMMITTER,
    cacheBytes: read.MILLRACE_GIT_CACHE_LIMIT,
  };
}
