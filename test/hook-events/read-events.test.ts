/** Bodies are cut to the fields that are read; the pages that say what senders send stand beside the readers. */
import { expect } from "chai";
import { payloadOf, readEvents } from "../../src/hook-events/read-events.ts";
import type { EventFacts, HookKind } from "../../src/hook-events/words.ts";

const [A, B] = ["a", "b"].map((letter) => letter.repeat(40)) as [string, string];
const ZEROS = "0".repeat(40);

describe("the events of a delivery", () => {
  const one = (kind: HookKind, event: string, body: Readonly<Record<string, unknown>>): EventFacts => {
    const [facts, ...others] = readEvents(kind, event, body);
    expect(others).to.deep.equal([]);
    return facts!;
  };

  describe("of GitLab", () => {
    const project = { path_with_namespace: "team/code", default_branch: "main" };
    const read = (body: object) => one("gitlab", "", { project, ...body });

    it("are pushes and tags, with the commit that an annotated tag names", () => {
      const push = {
        object_kind: "push",
        ref: "refs/heads/main",
        before: A,
        after: B,
        user_username: "ann",
        user_id: 11,
      };
      const commits = [
        { id: A, message: "first" },
        { id: B, message: "second" },
      ];
      expect(read({ ...push, commits })).to.include({
        event: "push",
        ref: "main",
        branch: "main",
        before: A,
        sha: B,
        message: "second",
        actor: "ann",
        actorId: "11",
        repository: "team/code",
        deleted: false,
      });
      expect(read({ ...push, after: ZEROS })).to.include({ deleted: true, sha: "" });
      const tag = { object_kind: "tag_push", ref: "refs/tags/v1", before: ZEROS, after: A, checkout_sha: B };
      expect(read(tag)).to.include({ event: "tag", action: "created", tag: "v1", sha: B, before: "" });
    });

    const attributes = {
      iid: 7,
      title: "Mend",
      source_branch: "topic",
      target_branch: "main",
      source_project_id: 1,
      target_project_id: 1,
      last_commit: { id: B },
    };
    const request = (more: object, body: object = {}) =>
      read({ object_kind: "merge_request", object_attributes: { ...attributes, ...more }, ...body });

    it("are merge requests, in the words of all senders", () => {
      const user = { id: 11, username: "ann" };
      expect(request({ action: "open", author_id: 12 }, { user, labels: [{ title: "big" }] })).to.deep.include({
        actor: "ann",
        actorId: "11",
        author: "",
        authorId: "12",
        event: "pull_request",
        action: "opened",
        ref: "refs/merge-requests/7/head",
        branch: "main",
        head: "topic",
        sha: B,
        number: 7,
        labels: ["big"],
        fork: false,
      });
      expect(request({ action: "update", oldrev: A })).to.include({ action: "updated", before: A });
      expect(request({ action: "update" })).to.include({ action: "edited" });
      expect(request({ action: "merge" })).to.include({ action: "merged" });
      const labels = (previous: readonly object[], current: readonly object[]) =>
        request({ action: "update" }, { changes: { labels: { previous, current } } }).action;
      expect([labels([], [{}]), labels([{}], [])]).to.deep.equal(["labelled", "unlabelled"]);
      const ready = { changes: { draft: { previous: true, current: false } } };
      expect(request({ action: "update" }, ready).action).to.equal("ready");
    });

    it("come from a fork when the projects differ, or are not told", () => {
      expect(request({ source_project_id: 2 }).fork).to.equal(true);
      expect(request({ source_project_id: undefined }).fork).to.equal(true);
    });

    it("are notes, of merge requests with their fork", () => {
      const note = { object_kind: "note", object_attributes: { note: "/build it" } };
      expect(read({ ...note, merge_request: { ...attributes, source_project_id: 2 } })).to.include({
        event: "comment",
        action: "created",
        command: "build",
        number: 7,
        fork: true,
      });
      expect(read({ ...note, issue: { iid: 3, title: "No" } })).to.include({ number: 3, ref: "main", fork: false });
      expect(readEvents("gitlab", "", { object_kind: "wiki_page" })).to.deep.equal([]);
    });
  });

  describe("of Bitbucket", () => {
    const repository = { full_name: "team/code" };
    const actor = { nickname: "ann", uuid: "{1}" };

    it("are each branch and tag of a push", () => {
      const changes = [
        { old: { target: { hash: A } }, new: { type: "branch", name: "main", target: { hash: B, message: "Mend" } } },
        { old: null, new: { type: "annotated_tag", name: "v1", target: { hash: B } } },
        { old: { type: "branch", name: "gone", target: { hash: A } }, new: null },
      ];
      const events = readEvents("bitbucket", "repo:push", { repository, actor, push: { changes } });
      expect(events.map(({ fullRef, sha, before, deleted }) => [fullRef, sha, before, deleted])).to.deep.equal([
        ["refs/heads/main", B, A, false],
        ["refs/tags/v1", B, "", false],
        ["refs/heads/gone", "", A, true],
      ]);
      expect(events[0]).to.include({ actor: "ann", message: "Mend", repository: "team/code" });
      const many = Array.from({ length: 50 }, () => changes[0]);
      expect(readEvents("bitbucket", "repo:push", { push: { changes: many } })).to.have.length(20);
    });

    const side = (full_name: string, branch: string, hash: string) => ({
      repository: { full_name },
      branch: { name: branch },
      commit: { hash },
    });
    const pullrequest = (from: string) => ({
      id: 4,
      title: "Mend",
      author: { nickname: "ann", uuid: "{2}" },
      source: side(from, "topic", B),
      destination: side("team/code", "main", A),
    });

    it("are pull requests; one of a fork has no ref but its commit", () => {
      const read = (event: string, from: string) =>
        one("bitbucket", event, { repository, actor, pullrequest: pullrequest(from) });
      expect(read("pullrequest:created", "team/code")).to.include({
        event: "pull_request",
        actorId: "{1}",
        authorId: "{2}",
        action: "opened",
        ref: "topic",
        branch: "main",
        sha: B,
        number: 4,
        fork: false,
      });
      expect(read("pullrequest:fulfilled", "other/code")).to.include({
        action: "merged",
        ref: B,
        fullRef: "",
        fork: true,
      });
      expect(readEvents("bitbucket", "pullrequest:approved", {})).to.deep.equal([]);
    });

    it("are comments with their command", () => {
      const body = { pullrequest: pullrequest("other/code"), comment: { content: { raw: "/test now" } } };
      expect(one("bitbucket", "pullrequest:comment_created", body)).to.include({ command: "test", fork: true });
    });
  });

  describe("of Gitea and Forgejo", () => {
    const sides = (from: string) => ({
      head: { ref: "topic", sha: B, repo: { full_name: from } },
      base: { ref: "main", sha: A, repo: { full_name: "team/code" } },
    });

    it("are those of GitHub, and new commits and labels under words of their own", () => {
      for (const kind of ["gitea", "forgejo"] as const) {
        const read = (event: string, action: string, from = "team/code") =>
          one(kind, event, { action, number: 5, sender: { login: "ann" }, pull_request: sides(from) });
        expect(read("pull_request_sync", "synchronized")).to.include({ action: "updated", number: 5, sha: B });
        expect(read("pull_request_label", "label_updated").action).to.equal("labelled");
        expect(read("pull_request", "opened", "other/code").fork).to.equal(true);
      }
    });

    it("are comments on pull requests, which count as those of forks", () => {
      const body = { action: "created", is_pull: true, issue: { number: 5 }, comment: { body: "/build" } };
      expect(one("gitea", "issue_comment", body)).to.include({ ref: "refs/pull/5/head", command: "build", fork: true });
    });
  });

  describe("of any program", () => {
    it("have the fields that the body gives, and the event of the header before that of the body", () => {
      const body = {
        event: "nightly",
        ref: "refs/tags/v2",
        sha: B,
        actor: "robot",
        labels: ["x"],
        number: 3,
        fork: true,
      };
      expect(one("generic", "", body)).to.deep.include({
        event: "nightly",
        tag: "v2",
        ref: "v2",
        fullRef: "refs/tags/v2",
        sha: B,
        actor: "robot",
        labels: ["x"],
        number: 3,
        fork: true,
      });
      expect(one("generic", "weekly", body).event).to.equal("weekly");
      expect(one("generic", "not a word!", {}).event).to.equal("event");
    });

    it("count what has another type, or is inherited, as absent", () => {
      const body = JSON.parse(
        '{ "ref": 7, "actor": { "a": 1 }, "labels": "x", "number": 1.5, "__proto__": { "sha": "b" } }',
      );
      expect(one("generic", "e", body)).to.deep.include({ ref: "", actor: "", labels: [], number: null, sha: "" });
    });
  });

  it("are the payload of a body above one megabyte", () => {
    const facts = one("generic", "e", { actor: "robot" });
    expect(payloadOf({ big: 1 }, 1 << 20, facts)).to.deep.equal({ big: 1 });
    expect(payloadOf({ big: 1 }, (1 << 20) + 1, facts)).to.deep.include({ actor: "robot", reduced: true });
  });
});
