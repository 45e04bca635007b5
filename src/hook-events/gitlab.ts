/** Events of GitLab. Pure. Source: https://docs.gitlab.com/user/project/integrations/webhook_events/ */
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
  namesAt,
  numberAt,
  pushed,
  released,
  textAt,
} from "./fields.ts";

const ACTIONS: Readonly<Record<string, string>> = {
  open: "opened",
  reopen: "reopened",
  close: "closed",
  merge: "merged",
};
const RELEASE_ACTIONS: Readonly<Record<string, string>> = { create: "published", update: "edited", delete: "deleted" };

/** Undefined for an event that starts nothing. The body names its event. */
export function readGitlab(body: Body): EventFacts | undefined {
  const common = {
    repository: textAt(body, "project", "path_with_namespace"),
    actor: firstText(body, ["user_username"], ["user", "username"]),
    actorId: idAt(body, ["user_id"], ["user", "id"]),
  };
  switch (textAt(body, "object_kind")) {
    case "push":
    case "tag_push":
      return readPush(body, common);
    case "merge_request":
      return readMergeRequest(body, common);
    case "release": {
      const action = textAt(body, "action");
      return factsOf({
        ...common,
        ...released(textAt(body, "tag")),
        action: RELEASE_ACTIONS[action] ?? action,
        sha: commitAt(body, "commit", "id"),
        message: firstText(body, ["name"], ["tag"]),
      });
    }
    case "note":
      return readNote(body, common);
    default:
      return undefined;
  }
}

type Common = Pick<EventFacts, "repository" | "actor" | "actorId">;

function readPush(body: Body, common: Common): EventFacts {
  const sha = commitAt(body, "after");
  const newest = listAt(body, "commits").find((commit) => textAt(commit, "id") === sha);
  return factsOf({
    ...common,
    ...pushed(textAt(body, "ref"), sha === ""),
    // Of an annotated tag, `after` is the tag and this is its commit.
    sha: commitAt(body, "checkout_sha") || sha,
    before: commitAt(body, "before"),
    message: textAt(newest, "message"),
  });
}

function readMergeRequest(body: Body, common: Common): EventFacts {
  return factsOf({
    ...common,
    ...mergeRequestFields(at(body, "object_attributes"), body),
    event: "pull_request",
    action: mergeRequestAction(body),
    labels: namesAt(body, ["labels"], "title"),
    message: textAt(body, "object_attributes", "title"),
  });
}

function mergeRequestAction(body: Body): string {
  const action = textAt(body, "object_attributes", "action");
  if (action !== "update") return ACTIONS[action] ?? action;
  // Only an update with new commits names the commit before it.
  if (commitAt(body, "object_attributes", "oldrev") !== "") return "updated";
  if (at(body, "changes", "labels") !== undefined) {
    const [before, after] = ["previous", "current"].map((when) => listAt(body, "changes", "labels", when).length);
    return after! < before! ? "unlabelled" : "labelled";
  }
  const wasDraft = isTrueAt(body, "changes", "draft", "previous");
  return wasDraft && at(body, "changes", "draft", "current") === false ? "ready" : "edited";
}

/** Of a merge request, as its own events and notes hold it. */
function mergeRequestFields(request: unknown, body: Body): Partial<EventFacts> {
  const number = numberAt(request, "iid");
  const ref = `refs/merge-requests/${number}/head`;
  const [from, into] = [numberAt(request, "source_project_id"), numberAt(request, "target_project_id")];
  return {
    ref,
    fullRef: ref,
    number,
    author: authorOf(request, body),
    authorId: idAt(request, ["author_id"]),
    branch: textAt(request, "target_branch"),
    head: textAt(request, "source_branch"),
    sha: commitAt(request, "last_commit", "id"),
    before: commitAt(request, "oldrev"),
    draft: isTrueAt(request, "draft") || isTrueAt(request, "work_in_progress"),
    fork: from === null || from !== into,
  };
}

/** A body has the name of no one but the user who did it, and the number of the user who has opened the merge request. */
function authorOf(request: unknown, body: Body): string {
  const number = numberAt(request, "author_id");
  return number !== null && number === numberAt(body, "user", "id") ? textAt(body, "user", "username") : "";
}

function readNote(body: Body, common: Common): EventFacts {
  const comment = textAt(body, "object_attributes", "note");
  const action = textAt(body, "object_attributes", "action") === "update" ? "edited" : "created";
  const said = { ...common, event: "comment", action, comment, command: commandIn(comment) };
  const request = at(body, "merge_request");
  if (request != null) {
    return factsOf({ ...said, ...mergeRequestFields(request, body), message: textAt(request, "title") });
  }
  const branch = textAt(body, "project", "default_branch");
  const number = numberAt(body, "issue", "iid");
  const message = textAt(body, "issue", "title");
  return factsOf({ ...said, number, message, branch, ref: branch, fullRef: `refs/heads/${branch}` });
}
