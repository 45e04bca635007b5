/** GitLab. Source: docs.gitlab.com, REST API, "Merge requests". */
import { z } from "zod";
import { type Dialect, query, tokenOf } from "./dialect.ts";
import { webAddress } from "./shapes.ts";

const merge = z
  .object({ iid: z.int(), web_url: webAddress, state: z.enum(["opened", "closed", "merged", "locked"]) })
  // A locked one is being merged.
  .transform(({ iid, web_url: url, state }) => ({
    number: iid,
    url,
    isOpen: state === "opened" || state === "locked",
  }));

/** A project is named by its whole path, as one part. */
function requestsOf(repository: readonly string[]): string {
  return `/projects/${encodeURIComponent(repository.join("/"))}/merge_requests`;
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
};
