/** GitHub, and GitHub Enterprise Server. Source: docs.github.com, REST API, "Pull requests" and "Commit statuses", version 2022-11-28. */
import { z } from "zod";
import { type Dialect, path, query, tokenOf } from "./dialect.ts";
import type { StatusState } from "./provider.ts";
import { commitId, webAddress, writePermission } from "./shapes.ts";

/** GitHub knows no `running`, and its `error` is for what ended without a result. */
const STATES: Readonly<Record<StatusState, string>> = {
  pending: "pending",
  running: "pending",
  success: "success",
  failure: "failure",
  cancelled: "error",
};

export const GITHUB_HEADERS = {
  accept: "application/vnd.github+json",
  "user-agent": "millrace",
  "x-github-api-version": "2022-11-28",
} as const;

const pull = z
  .object({ number: z.int(), html_url: webAddress, state: z.enum(["open", "closed"]) })
  .transform(({ number, html_url: url, state }) => ({ number, url, isOpen: state === "open" }));

export const GITHUB: Dialect = {
  noun: "pull request",
  parts: [2, 2],
  headers: (credential) => ({ ...GITHUB_HEADERS, authorization: `Bearer ${tokenOf(credential)}` }),
  find: (repository, branch, target) => ({
    method: "GET",
    path: `/repos/${path(repository)}/pulls?${query({
      // Without the owner, GitHub ignores the filter.
      head: `${repository[0]}:${branch}`,
      base: target,
      state: "all",
      sort: "created",
      direction: "desc",
      per_page: "1",
    })}`,
  }),
  found: z.array(pull).transform(([first]) => first),
  create: (repository, { branch, target, title, body }) => ({
    method: "POST",
    path: `/repos/${path(repository)}/pulls`,
    body: { title, body, head: branch, base: target },
  }),
  created: pull,
  exists: [422],
  permission: (repository, { login }) => ({
    method: "GET",
    path: `/repos/${path(repository)}/collaborators/${path([login])}/permission`,
  }),
  mayWrite: writePermission,
  proposal: (repository, number) => ({ method: "GET", path: `/repos/${path(repository)}/pulls/${number}` }),
  head: z.object({ head: z.object({ sha: commitId }) }).transform(({ head }) => head.sha),
  setStatus: (repository, { commit, name, state, description, url }) => ({
    method: "POST",
    path: `/repos/${path(repository)}/statuses/${commit}`,
    body: { state: STATES[state], context: name, description, ...(url !== null && { target_url: url }) },
  }),
};
