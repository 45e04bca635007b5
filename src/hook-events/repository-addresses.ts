/** Under which addresses a sender knows the repository of a delivery. Pure. Sources: docs/hooks.md names the page of each sender. */
import { type Body, textAt } from "./fields.ts";
import type { HookKind } from "./words.ts";

/** Where the body has an address of the repository. Of a pull request, it is the one that the pull request is for. */
const PLACES: Readonly<Record<HookKind, readonly (readonly string[])[]>> = {
  github: [
    ["repository", "clone_url"],
    ["repository", "ssh_url"],
    ["repository", "html_url"],
  ],
  gitea: [
    ["repository", "clone_url"],
    ["repository", "ssh_url"],
    ["repository", "html_url"],
  ],
  forgejo: [
    ["repository", "clone_url"],
    ["repository", "ssh_url"],
    ["repository", "html_url"],
  ],
  gitlab: [
    ["project", "git_http_url"],
    ["project", "git_ssh_url"],
    ["project", "web_url"],
  ],
  // Its bodies have no address to clone from.
  bitbucket: [["repository", "links", "html", "href"]],
  generic: [["repository"]],
};

/** Without repeats; empty when the body names none. */
export function repositoryAddresses(kind: HookKind, body: Body): readonly string[] {
  return [...new Set(PLACES[kind].map((path) => textAt(body, ...path)).filter((text) => text !== ""))];
}
