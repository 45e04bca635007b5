/** Bitbucket Cloud. Source: developer.atlassian.com, Bitbucket Cloud REST API, "Pullrequests" and "Commit statuses". */
import { hash } from "node:crypto";
import { z } from "zod";
import { type Dialect, path, query, tokenOf } from "./dialect.ts";
import type { StatusState } from "./provider.ts";
import { commitId, webAddress } from "./shapes.ts";

const STATES: Readonly<Record<StatusState, string>> = {
  pending: "INPROGRESS",
  running: "INPROGRESS",
  success: "SUCCESSFUL",
  failure: "FAILED",
  cancelled: "STOPPED",
};
/** The longest key of a status. */
const KEY_CHARS = 40;

const pull = z
  .object({
    id: z.int(),
    state: z.enum(["OPEN", "MERGED", "DECLINED", "SUPERSEDED"]),
    links: z.object({ html: z.object({ href: webAddress }) }),
  })
  .transform(({ id, state, links }) => ({ number: id, url: links.html.href, isOpen: state === "OPEN" }));

/** A text in a query. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

export const BITBUCKET: Dialect = {
  noun: "pull request",
  parts: [2, 2],
  // An app password belongs to a user; an access token belongs to a repository, and goes with a fixed user in Git.
  headers: (credential) => ({
    accept: "application/json",
    authorization:
      credential.includes(":") && !credential.startsWith("x-token-auth:")
        ? `Basic ${Buffer.from(credential).toString("base64")}`
        : `Bearer ${tokenOf(credential)}`,
  }),
  find: (repository, branch, target) => {
    const q = `source.branch.name = ${quoted(branch)} AND destination.branch.name = ${quoted(target)}`;
    const pairs: [string, string][] = [
      ["q", q],
      ["sort", "-created_on"],
      ["pagelen", "1"],
    ];
    // Without a state, the open ones alone are listed.
    const states = ["OPEN", "MERGED", "DECLINED", "SUPERSEDED"].map((state): [string, string] => ["state", state]);
    const all = new URLSearchParams([...pairs, ...states]).toString();
    return { method: "GET", path: `/repositories/${path(repository)}/pullrequests?${all}` };
  },
  found: z.object({ values: z.array(pull) }).transform(({ values: [first] }) => first),
  create: (repository, { branch, target, title, body }) => ({
    method: "POST",
    path: `/repositories/${path(repository)}/pullrequests`,
    body: {
      title,
      description: body,
      source: { branch: { name: branch } },
      destination: { branch: { name: target } },
      close_source_branch: true,
    },
  }),
  created: pull,
  exists: [409],
  // What groups of the workspace give is in this list, too.
  permission: ([workspace, name], { id }) => ({
    method: "GET",
    path: `/workspaces/${path([workspace!])}/permissions/repositories/${path([name!])}?${query({ q: `user.uuid = ${quoted(id)}` })}`,
  }),
  mayWrite: z
    .object({ values: z.array(z.object({ permission: z.string() })) })
    .transform(({ values }) => values.some(({ permission }) => ["admin", "write"].includes(permission))),
  proposal: (repository, number) => ({
    method: "GET",
    path: `/repositories/${path(repository)}/pullrequests/${number}`,
  }),
  head: z
    .object({ source: z.object({ commit: z.object({ hash: commitId }) }) })
    .transform(({ source }) => source.commit.hash),
  setStatus: (repository, { commit, name, state, description, url }) => ({
    method: "POST",
    path: `/repositories/${path(repository)}/commit/${commit}/statuses/build`,
    body: {
      key: hash("sha256", name, "hex").slice(0, KEY_CHARS),
      state: STATES[state],
      name,
      description,
      // Bitbucket takes no status without an address: without one of the run, it is that of the commit.
      url: url ?? `https://bitbucket.org/${path(repository)}/commits/${commit}`,
    },
  }),
};
