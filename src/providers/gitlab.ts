/** GitLab. Source: docs.gitlab.com, REST API, "Merge requests" and "Commits". */
import { z } from "zod";
import { type Dialect, path, query, tokenOf } from "./dialect.ts";
import type { StatusState } from "./provider.ts";
import { commitId, webAddress } from "./shapes.ts";

const merge = z
  .object({ iid: z.int(), web_url: webAddress, state: z.enum(["opened", "closed", "merged", "locked"]) })
  // A locked one is being merged.
  .transform(({ iid, web_url: url, state }) => ({
    number: iid,
    url,
    isOpen: state === "opened" || state === "locked",
  }));

const STATES: Readonly<Record<StatusState, string>> = {
  pending: "pending",
  running: "running",
  success: "success",
  failure: "failed",
  cancelled: "canceled",
};

/** `Cannot transition status via :run from :running`: the state that GitLab shows. */
const NO_TRANSITION = /^Cannot transition status via :\w+ from :(\w+)/;

/** The lowest level of access that may push. Source: docs.gitlab.com, "Roles", and REST API, "Members". */
const DEVELOPER = 30;

/** A project is named by its whole path, as one part. */
function projectOf(repository: readonly string[]): string {
  return `/projects/${encodeURIComponent(repository.join("/"))}`;
}

function requestsOf(repository: readonly string[]): string {
  return `${projectOf(repository)}/merge_requests`;
}

export const GITLAB: Dialect = {
  noun: "merge request",
  parts: [2, 20],
  headers: (credential) => ({ accept: "application/json", authorization: `Bearer ${tokenOf(credential)}` }),
  find: (repository, branch, target) => ({
    method: "GET",
    path: `${requestsOf(repository)}?${query({
      source_branch: branch,
      target_branch: target,
      state: "all",
      order_by: "created_at",
      sort: "desc",
      per_page: "1",
    })}`,
  }),
  found: z.array(merge).transform(([first]) => first),
  create: (repository, { branch, target, title, body }) => ({
    method: "POST",
    path: requestsOf(repository),
    body: { source_branch: branch, target_branch: target, title, description: body, remove_source_branch: true },
  }),
  created: merge,
  exists: [409],
  // Inherited members included.
  permission: (repository, { id }) => ({
    method: "GET",
    path: `${projectOf(repository)}/members/all/${path([id])}`,
  }),
  mayWrite: z
    .object({ access_level: z.int(), state: z.string().optional() })
    .transform(({ access_level: level, state = "active" }) => level >= DEVELOPER && state === "active"),
  proposal: (repository, number) => ({ method: "GET", path: `${requestsOf(repository)}/${number}` }),
  head: z.object({ sha: commitId }).transform(({ sha }) => sha),
  setStatus: (repository, { commit, name, state, description, url }) => ({
    method: "POST",
    path: `${projectOf(repository)}/statuses/${commit}`,
    body: { state: STATES[state], name, description, ...(url !== null && { target_url: url }) },
  }),
  isShown: (words, state) => {
    const shown = NO_TRANSITION.exec(words)?.[1];
    // A status that runs cannot wait again: what runs then is shown soon.
    return shown !== undefined && (shown === STATES[state] || (shown === "running" && state === "pending"));
  },
};
