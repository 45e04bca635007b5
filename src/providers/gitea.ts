/** Gitea and Forgejo, which answer these calls alike. Source: their `/api/swagger`, "repository". */
import { z } from "zod";
import { type Dialect, path, tokenOf } from "./dialect.ts";
import type { StatusState } from "./provider.ts";
import { commitId, webAddress, writePermission } from "./shapes.ts";

const STATES: Readonly<Record<StatusState, string>> = {
  pending: "pending",
  running: "pending",
  success: "success",
  failure: "failure",
  cancelled: "error",
};

const pull = z
  .object({ number: z.int(), html_url: webAddress, state: z.enum(["open", "closed"]) })
  .transform(({ number, html_url: url, state }) => ({ number, url, isOpen: state === "open" }));

export const GITEA: Dialect = {
  noun: "pull request",
  parts: [2, 2],
  headers: (credential) => ({ accept: "application/json", authorization: `token ${tokenOf(credential)}` }),
  // The list cannot be narrowed to a branch.
  find: (repository, branch, target) => ({
    method: "GET",
    path: `/repos/${path(repository)}/pulls/${encodeURIComponent(target)}/${path(branch.split("/"))}`,
  }),
  found: pull,
  missing: 404,
  create: (repository, { branch, target, title, body }) => ({
    method: "POST",
    path: `/repos/${path(repository)}/pulls`,
    body: { title, body, head: branch, base: target },
  }),
  created: pull,
  exists: [409],
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
