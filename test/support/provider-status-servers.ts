/** The commit statuses of the small servers of hosts' APIs: what each host documents, and how it answers. */
import type { ProviderName } from "../../src/providers/provider.ts";
import { schemasOf } from "./host-schemas.ts";

/** A commit status as the host keeps it, in its own word. */
export interface ShownStatus {
  readonly commit: string;
  readonly name: string;
  readonly state: string;
  readonly description: string;
  /** Empty for none. */
  readonly url: string;
}

export interface StatusApi {
  /** The path behind the base, for `team/app`, with the commit in the place of `COMMIT`. */
  readonly path: string;
  /** What the body asks for, or what is wrong with it. */
  readonly asked: (body: unknown) => Omit<ShownStatus, "commit"> | string;
  /** What the host refuses while it shows the earlier state. */
  readonly refused?: (earlier: string, state: string) => object | undefined;
  readonly shown: (status: ShownStatus) => object;
}

/** The members of a body, which has no others. */
export function membersOf(body: unknown, names: readonly string[]): Readonly<Record<string, never>> | string {
  const given = Object.keys(body ?? {})
    .toSorted()
    .join();
  return given === names.toSorted().join() ? (body as Readonly<Record<string, never>>) : `the body has ${given}`;
}

/** How the body of a status says what: the members for the name and for the state, the words, and what it must have. */
function statusBody(
  names: { readonly name: string; readonly url: string },
  states: readonly string[],
  fixed: readonly string[] = [],
): StatusApi["asked"] {
  return (body) => {
    const given = (body ?? {}) as Readonly<Record<string, unknown>>;
    const isLinked = names.url in given;
    const members = membersOf(body, [
      names.name,
      "state",
      "description",
      ...fixed,
      ...(isLinked || names.url === "url" ? [names.url] : []),
    ]);
    if (typeof members === "string") return members;
    const texts = Object.entries(given).find(([, value]) => typeof value !== "string");
    if (texts !== undefined) return `${texts[0]} is no text`;
    const { state, description, [names.name]: name, [names.url]: url = "" } = given as Record<string, string>;
    if (!states.includes(state!)) return `the state is ${state}`;
    if (description!.length > 140) return "the description is too long";
    if (name!.length === 0 || name!.length > 255) return "the name is too long";
    if (url !== "" && !/^https?:\/\//.test(url)) return `the address is ${url}`;
    return { name: name!, state: state!, description: description!, url };
  };
}

/** GitLab moves a status from state to state; one that has ended is followed by a new one. */
function refusedAtGitLab(earlier: string, state: string): object | undefined {
  const ways: Readonly<Record<string, string>> = { pending: "enqueue", running: "run" };
  const isMoved = earlier === "pending" ? state !== "pending" : earlier !== "running" || !(state in ways);
  if (isMoved) return undefined;
  const way = ways[state]!;
  return {
    message: `Cannot transition status via :${way} from :${earlier} (Reason(s): Status cannot transition via "${way}")`,
  };
}

const GITHUB: StatusApi = {
  path: "/repos/team/app/statuses/COMMIT",
  asked: statusBody({ name: "context", url: "target_url" }, ["error", "failure", "pending", "success"]),
  shown: ({ name, state, description, url }) => {
    const example = schemasOf("github")!.example("status");
    return { ...example, context: name, state, description, target_url: url === "" ? null : url };
  },
};

const GITLAB: StatusApi = {
  path: "/projects/team%2Fapp/statuses/COMMIT",
  asked: statusBody({ name: "name", url: "target_url" }, ["pending", "running", "success", "failed", "canceled"]),
  refused: refusedAtGitLab,
  shown: ({ commit, name, state, description, url }) => ({
    id: 93,
    sha: commit,
    ref: "main",
    status: state,
    name,
    target_url: url === "" ? null : url,
    description,
    created_at: "2026-01-19T09:05:50.355Z",
    started_at: null,
    finished_at: null,
    allow_failure: false,
    coverage: null,
    author: { id: 28, username: "ann", name: "Ann", state: "active" },
  }),
};

const GITEA: StatusApi = {
  path: "/repos/team/app/statuses/COMMIT",
  asked: statusBody({ name: "context", url: "target_url" }, ["pending", "success", "error", "failure", "warning"]),
  shown: ({ name, state, description, url }) => ({
    id: 1,
    context: name,
    status: state,
    description,
    ...(url !== "" && { target_url: url }),
  }),
};

const BITBUCKET: StatusApi = {
  path: "/repositories/team/app/commit/COMMIT/statuses/build",
  asked: (body) => {
    const key = String((body as { readonly key?: unknown } | null)?.key);
    if (!/^[0-9a-f]{40}$/.test(key)) return `the key is ${key}`;
    return statusBody({ name: "name", url: "url" }, ["INPROGRESS", "SUCCESSFUL", "FAILED", "STOPPED"], ["key"])(body);
  },
  shown: ({ name, state, description, url }) => ({ type: "build", name, state, description, url }),
};

export const STATUS_APIS: Readonly<Record<ProviderName, StatusApi>> = {
  github: GITHUB,
  gitlab: GITLAB,
  gitea: GITEA,
  forgejo: GITEA,
  bitbucket: BITBUCKET,
};
