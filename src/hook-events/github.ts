/**
 * Events of GitHub, and of Gitea and Forgejo, whose bodies are like those of GitHub. Pure.
 * Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads
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
  namesAt,
  numberAt,
  pushed,
  released,
  textAt,
} from "./fields.ts";

/** The words of senders that others have another word for. */
const ACTIONS: Readonly<Record<string, string>> = {
  synchronize: "updated",
  synchronized: "updated",
  labeled: "labelled",
  label_updated: "labelled",
  unlabeled: "unlabelled",
  label_cleared: "unlabelled",
  ready_for_review: "ready",
};

/** Undefined for an event that starts nothing. */
export function readGithub(event: string, body: Body): EventFacts | undefined {
  const common = {
    repository: textAt(body, "repository", "full_name"),
    actor: firstText(body, ["sender", "login"], ["pusher", "login"], ["pusher", "name"]),
    actorId: idAt(body, ["sender", "id"]),
  };
  switch (event) {
    case "push":
      return readPush(body, common);
    // Gitea and Forgejo tell changes of labels and new commits under words of their own.
    case "pull_request":
    case "pull_request_label":
    case "pull_request_sync":
      return readPullRequest(body, common);
    case "release":
      return factsOf({
        ...common,
        ...released(textAt(body, "release", "tag_name")),
        action: textAt(body, "action"),
        message: firstText(body, ["release", "name"], ["release", "tag_name"]),
        draft: isTrueAt(body, "release", "draft"),
      });
    case "issue_comment":
    case "pull_request_comment":
    case "pull_request_review_comment":
      return readComment(body, common);
    default:
      return undefined;
  }
}

type Common = Pick<EventFacts, "repository" | "actor" | "actorId">;

function readPush(body: Body, common: Common): EventFacts {
  const sha = commitAt(body, "after");
  return factsOf({
    ...common,
    ...pushed(textAt(body, "ref"), isTrueAt(body, "deleted") || sha === ""),
    sha,
    before: commitAt(body, "before"),
    message: textAt(body, "head_commit", "message"),
  });
}

function readPullRequest(body: Body, common: Common): EventFacts {
  const action = textAt(body, "action");
  const isMerged = action === "closed" && isTrueAt(body, "pull_request", "merged");
  return factsOf({
    ...common,
    ...pullRequestFields(body),
    event: "pull_request",
    action: isMerged ? "merged" : (ACTIONS[action] ?? action),
    message: textAt(body, "pull_request", "title"),
  });
}

function pullRequestFields(body: Body): Partial<EventFacts> {
  const number = numberAt(body, "pull_request", "number") ?? numberAt(body, "number");
  const [from, into] = [
    textAt(body, "pull_request", "head", "repo", "full_name"),
    textAt(body, "pull_request", "base", "repo", "full_name"),
  ];
  return {
    ref: `refs/pull/${number}/head`,
    fullRef: `refs/pull/${number}/head`,
    branch: textAt(body, "pull_request", "base", "ref"),
    author: textAt(body, "pull_request", "user", "login"),
    authorId: idAt(body, ["pull_request", "user", "id"]),
    head: textAt(body, "pull_request", "head", "ref"),
    sha: commitAt(body, "pull_request", "head", "sha"),
    before: commitAt(body, "pull_request", "base", "sha"),
    number,
    draft: isTrueAt(body, "pull_request", "draft"),
    labels: namesAt(body, ["pull_request", "labels"], "name"),
    // A repository that is gone was a fork.
    fork: from === "" || from !== into,
  };
}

function readComment(body: Body, common: Common): EventFacts {
  const comment = textAt(body, "comment", "body");
  const said = { ...common, event: "comment", action: textAt(body, "action"), comment, command: commandIn(comment) };
  const message = firstText(body, ["issue", "title"], ["pull_request", "title"]);
  if (at(body, "pull_request") != null) return factsOf({ ...said, message, ...pullRequestFields(body) });
  const number = numberAt(body, "issue", "number");
  const isOfPullRequest = at(body, "issue", "pull_request") != null || isTrueAt(body, "is_pull");
  const branch = textAt(body, "repository", "default_branch");
  const labels = namesAt(body, ["issue", "labels"], "name");
  if (!isOfPullRequest) {
    return factsOf({ ...said, message, number, labels, branch, ref: branch, fullRef: `refs/heads/${branch}` });
  }
  const ref = `refs/pull/${number}/head`;
  // The body does not say from which repository the pull request comes.
  const [author, authorId] = [textAt(body, "issue", "user", "login"), idAt(body, ["issue", "user", "id"])];
  return factsOf({ ...said, message, number, labels, author, authorId, ref, fullRef: ref, fork: true });
}
