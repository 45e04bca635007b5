/**
 * Events of Bitbucket Cloud. One push may tell of several branches and tags. Pure.
 * Source: https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/
 */
import type { EventFacts } from "./words.ts";
import {
  at,
  type Body,
  commandIn,
  commitAt,
  factsOf,
  firstText,
  idAt,
  isTrueAt,
  listAt,
  numberAt,
  pushed,
  textAt,
} from "./fields.ts";

const ACTIONS: Readonly<Record<string, string>> = {
  created: "opened",
  updated: "updated",
  fulfilled: "merged",
  rejected: "closed",
};

/** Empty for an event that starts nothing. */
export function readBitbucket(event: string, body: Body): readonly EventFacts[] {
  const common = {
    repository: textAt(body, "repository", "full_name"),
    actor: firstText(body, ...nameOf("actor")),
    actorId: idAt(body, ["actor", "uuid"]),
  };
  if (event === "repo:push") return listAt(body, "push", "changes").map((change) => readChange(change, common));
  const action = /^pullrequest:(\w+)$/.exec(event)?.[1];
  if (action === "comment_created") return [readComment(body, common)];
  const known = ACTIONS[action ?? ""];
  if (known === undefined) return [];
  const message = textAt(body, "pullrequest", "title");
  return [factsOf({ ...common, ...pullRequestFields(body), event: "pull_request", action: known, message })];
}

/** Where the name of a user stands, the one that others cannot take first. */
function nameOf(...user: readonly string[]): readonly (readonly string[])[] {
  return ["nickname", "username", "display_name"].map((field) => [...user, field]);
}

type Common = Pick<EventFacts, "repository" | "actor" | "actorId">;

function readChange(change: unknown, common: Common): EventFacts {
  const isDeleted = at(change, "new") == null;
  const side = at(change, isDeleted ? "old" : "new");
  const isTag = ["tag", "annotated_tag"].includes(textAt(side, "type"));
  return factsOf({
    ...common,
    ...pushed(`refs/${isTag ? "tags" : "heads"}/${textAt(side, "name")}`, isDeleted),
    sha: isDeleted ? "" : commitAt(side, "target", "hash"),
    before: commitAt(change, "old", "target", "hash"),
    message: isDeleted ? "" : textAt(side, "target", "message"),
  });
}

function pullRequestFields(body: Body): Partial<EventFacts> {
  const [from, into] = ["source", "destination"].map((side) =>
    textAt(body, "pullrequest", side, "repository", "full_name"),
  );
  const head = textAt(body, "pullrequest", "source", "branch", "name");
  const sha = commitAt(body, "pullrequest", "source", "commit", "hash");
  const isFork = from === "" || from !== into;
  return {
    // The repository has no ref for the pull request of a fork: nothing but the commit names it.
    ref: isFork ? sha : head,
    fullRef: isFork ? "" : `refs/heads/${head}`,
    branch: textAt(body, "pullrequest", "destination", "branch", "name"),
    author: firstText(body, ...nameOf("pullrequest", "author")),
    authorId: idAt(body, ["pullrequest", "author", "uuid"]),
    head,
    sha,
    before: commitAt(body, "pullrequest", "destination", "commit", "hash"),
    number: numberAt(body, "pullrequest", "id"),
    draft: isTrueAt(body, "pullrequest", "draft"),
    fork: isFork,
  };
}

function readComment(body: Body, common: Common): EventFacts {
  const comment = textAt(body, "comment", "content", "raw");
  const message = textAt(body, "pullrequest", "title");
  const said = { event: "comment", action: "created", comment, command: commandIn(comment), message };
  return factsOf({ ...common, ...pullRequestFields(body), ...said });
}
