/** The contract of the port of hosts, for each adapter, with a small server of its API. */
import { expect } from "chai";
import { apiSender } from "../../src/node/git.ts";
import { openProvider } from "../../src/providers/provider-client.ts";
import { placeOf, providerOfHost } from "../../src/providers/place.ts";
import { type Provider, type ProviderName, PROVIDERS, STATUS_STATES } from "../../src/providers/provider.ts";
import { faultOf, remoteOf } from "../support/git-engine.ts";
import { schemasOf } from "../support/host-schemas.ts";
import { ProviderServer, TOKEN } from "../support/provider-servers.ts";

const SEND = apiSender({ networks: [{ address: "127.0.0.0", bits: 8 }], caFile: null });
const NEW = { branch: "millrace/ann-1", target: "release/1", title: "Say two", body: "In full." };

/** The words of the hosts for {@link STATUS_STATES}. */
const PLAIN_STATES = ["pending", "pending", "success", "failure", "error"];
const SHOWN_STATES: Readonly<Record<ProviderName, readonly string[]>> = {
  github: PLAIN_STATES,
  gitlab: ["pending", "running", "success", "failed", "canceled"],
  gitea: PLAIN_STATES,
  forgejo: PLAIN_STATES,
  bitbucket: ["INPROGRESS", "INPROGRESS", "SUCCESSFUL", "FAILED", "STOPPED"],
};

/** What requests and answers of the small servers are checked against. */
const CHECKED: Readonly<Record<ProviderName, string>> = {
  github: "its published schemas",
  gitlab: "its documentation",
  gitea: "its published schemas",
  forgejo: "the published schemas of Gitea",
  bitbucket: "its documentation",
};

for (const name of PROVIDERS) {
  describe(`the provider ${name}, checked against ${CHECKED[name]}`, () => {
    let server: ProviderServer;
    let provider: Provider;
    beforeEach(async () => {
      server = await new ProviderServer(name).start();
      provider = at(["team", "app"]);
    });
    afterEach(() => server.stop());

    const at = (repository: readonly string[], credential = TOKEN) =>
      openProvider({ name, api: server.base, repository }, credential, SEND);

    it("opens a proposal once, and finds it while it is open and afterwards", async () => {
      expect(await provider.find(NEW.branch, NEW.target)).to.equal(undefined);
      const made = await provider.propose(NEW);
      expect(made).to.include({ number: 1, isOpen: true });
      expect(made.url).to.include(`${server.origin}/team/app/`);
      expect(server.pulls).to.deep.equal([{ ...NEW, number: 1, isOpen: true }]);
      expect(await provider.propose({ ...NEW, title: "again" })).to.deep.equal(made);
      expect(await provider.find(NEW.branch, NEW.target)).to.deep.equal(made);
      expect(await provider.find(NEW.branch, "main")).to.equal(undefined);
      server.pulls[0]!.isOpen = false;
      expect(await provider.find(NEW.branch, NEW.target)).to.deep.equal({ ...made, isOpen: false });
    });

    it("finds what it has opened when the answer was cut off", async () => {
      server.intercept = ({ method }, response, act) => {
        if (method !== "POST") return false;
        act();
        response.writeHead(201, { "content-length": "1000" }).write('{"number');
        setImmediate(() => response.destroy());
        return true;
      };
      expect(await provider.propose(NEW)).to.include({ number: 1 });
      expect(server.pulls).to.have.length(1);
    });

    it("tells refusals apart, without the token", async () => {
      const said = JSON.stringify({ message: `no ${TOKEN} here` });
      for (const [status, kind, headers] of [
        [401, "authentication", {}],
        [403, "readOnly", {}],
        [403, "tooMany", { "retry-after": "7" }],
        [404, "notFound", {}],
        [409, "refused", {}],
        [422, "refused", {}],
        [429, "tooMany", { "retry-after": "7" }],
        [503, "unreachable", { "retry-after": "7" }],
        [302, "redirected", { location: "http://10.0.0.1/" }],
      ] as const) {
        server.intercept = ({ method }, response) => {
          if (method !== "POST") return false;
          return response.writeHead(status, headers).end(said) !== undefined;
        };
        const fault = await faultOf(provider.propose(NEW));
        expect(fault, `${status} ${fault.message}`).to.include({ kind, isOfApi: true });
        expect(fault.message).to.include(`${status} no *** here`);
        expect(fault.retryAfterSeconds, String(status)).to.equal(
          "retry-after" in headers ? 7 : kind === "tooMany" ? 60 : null,
        );
      }
      expect((await faultOf(at(["team", "app"], "wrong").find("a", "b"))).kind).to.equal("authentication");
    });

    it("tells who may write, and the newest commit of a proposal", async () => {
      const ids: Partial<Record<ProviderName, string>> = {
        gitlab: "11",
        bitbucket: `{${"0a".repeat(4)}-1b1b-2c2c-3d3d-${"4e".repeat(6)}}`,
      };
      const ann = { login: "ann", id: ids[name] ?? "" };
      expect(await provider.mayWrite(ann), "a user that the host does not know").to.equal(false);
      server.members.set(ids[name] ?? "ann", "read");
      expect(await provider.mayWrite(ann)).to.equal(false);
      server.members.set(ids[name] ?? "ann", "write");
      expect(await provider.mayWrite(ann)).to.equal(true);
      const sha = "0123456789abcdef".repeat(2) + "01234567";
      server.heads.set(7, sha);
      expect(sha.startsWith(await provider.headOf(7))).to.equal(true);
      expect((await faultOf(provider.headOf(8))).kind).to.equal("notFound");
      server.intercept = (_, response) => response.writeHead(503).end() !== undefined;
      expect((await faultOf(provider.mayWrite(ann))).kind).to.equal("unreachable");
      server.intercept = (_, response) => response.writeHead(200).end("{}") !== undefined;
      expect((await faultOf(provider.mayWrite(ann))).kind).to.equal("cutOff");
      expect((await faultOf(provider.headOf(7))).kind).to.equal("cutOff");
    });

    it("sets the status of a commit, once and again", async () => {
      const [commit, other] = ["a".repeat(40), "b".repeat(40)];
      const status = { commit, name: "millrace/build", description: "It waits.", url: "https://ci.example/runs/1" };
      await provider.setStatus({ ...status, state: "pending" });
      await provider.setStatus({ ...status, state: "pending" });
      await provider.setStatus({ ...status, state: "running" });
      await provider.setStatus({ ...status, state: "running" });
      await provider.setStatus({ ...status, state: "pending" });
      await provider.setStatus({ ...status, state: "success" });
      await provider.setStatus({ ...status, state: "success" });
      expect(server.shown(commit, status.name)).to.equal({ bitbucket: "SUCCESSFUL" }[name as string] ?? "success");
      expect(server.statuses[0]).to.deep.include({
        commit,
        name: status.name,
        description: "It waits.",
        url: status.url,
      });
      for (const state of STATUS_STATES) {
        await provider.setStatus({ ...status, commit: other, name: state, state, url: null });
      }
      const shown = STATUS_STATES.map((state) => server.shown(other, state));
      expect(shown).to.deep.equal(SHOWN_STATES[name]);
    });

    it("says what is in the way of a status", async () => {
      const status = { commit: "c".repeat(40), name: "x", state: "success", description: "", url: null } as const;
      for (const [code, kind, words] of [
        [403, "readOnly", "read and write commit statuses"],
        [400, "refused", "400 Cannot transition status via :drop from :success"],
        [422, "refused", "maximum number of statuses"],
      ] as const) {
        const message =
          code === 422
            ? "This SHA and context has reached the maximum number of statuses."
            : "Cannot transition status via :drop from :success";
        server.intercept = (_, response) => response.writeHead(code).end(JSON.stringify({ message })) !== undefined;
        const fault = await faultOf(provider.setStatus({ ...status, state: code === 400 ? "failure" : "success" }));
        expect(fault, fault.message).to.include({ kind, isOfApi: true });
        expect(fault.message).to.include("setting a commit status").and.to.include(words);
      }
    });

    it("makes, lists, changes and deletes webhooks with the events that millrace reads", async () => {
      const [url, secret] = ["https://ci.example.org/api/v1/hooks/hook_1", "a secret of the hook"];
      expect(await provider.hooks()).to.deep.equal([]);
      const made = await provider.createHook({ url, secret });
      expect(made).to.deep.include({ url, isActive: true, missing: [], lastStatus: null });
      expect(server.hooks.stored[0]).to.include({ url, secret, isActive: true });
      Object.assign(server.hooks.stored[0]!, { isActive: false, events: [], lastStatus: 401 });
      const [bad] = await provider.hooks();
      expect(bad).to.include({ id: made.id, isActive: false, lastStatus: name === "github" ? 401 : null });
      expect(bad!.missing).to.not.deep.equal([]);
      const next = { url: `${url}2`, secret: "another secret" };
      expect(await provider.updateHook(made.id, next)).to.deep.include({ url: next.url, missing: [], isActive: true });
      expect(server.hooks.stored[0]).to.include(next);
      await provider.deleteHook(made.id);
      await provider.deleteHook(made.id);
      expect(server.hooks.stored).to.deep.equal([]);
      const said = JSON.stringify({ message: `no ${secret} and ${TOKEN}` });
      server.intercept = (_, response) => response.writeHead(403).end(said) !== undefined;
      const fault = await faultOf(provider.createHook({ url, secret }));
      expect(fault.kind).to.equal("readOnly");
      expect(fault.message).to.include("403 no *** and ***: let the token read and write webhooks");
    });

    it("refuses an answer that is none, and one that is too long", async () => {
      for (const text of ["<html>", "{}", `"${"x".repeat(2_000_000)}"`]) {
        server.intercept = (_, response) => response.writeHead(200).end(text) !== undefined;
        const fault = await faultOf(provider.find("a", "b"));
        expect(fault.kind, fault.message).to.equal("cutOff");
      }
    });
  });
}

describe("the check against published schemas", () => {
  const call = { method: "POST", path: "/repos/team/app/statuses/abc", query: new URLSearchParams() };
  const repositories = { method: "GET", path: "/user/repos", query: new URLSearchParams(), body: null };

  it("refuses what a host does not describe, and answers that it does not give", () => {
    for (const [name, body, problem] of [
      ["github", { state: "success" }, undefined],
      ["github", { state: "running" }, "must be equal to one of the allowed values"],
      ["github", {}, "must have required property 'state'"],
      ["github", { state: "success", name: "x" }, "no member name"],
      ["gitea", { state: "success", context: "x" }, undefined],
      ["gitea", { state: "success", context: 1 }, "must be string"],
    ] as const) {
      const schemas = schemasOf(name)!;
      const found = schemas.problemOf({ ...call, body });
      if (problem === undefined) expect(found).to.equal(undefined);
      else expect(found).to.include(problem);
      expect(schemas.problemOf(repositories)).to.include("there is no GET");
      expect(schemas.problemOf({ ...call, body, query: new URLSearchParams({ no: "1" }) })).to.include("parameter no");
      expect(schemas.answerProblemOf({ ...call, body }, { status: 201, body: { id: "x" } })).to.include("/id must be");
      expect(schemas.answerProblemOf({ ...call, body }, { status: 299, body: {} })).to.include("is not described");
    }
    expect(schemasOf("gitlab")).to.equal(undefined);
  });
});

describe("the place of a repository at its host", () => {
  it("follows from its address", () => {
    for (const [url, name, api, repository] of [
      ["https://github.com/team/app.git", "github", "https://api.github.com", "team/app"],
      ["git@github.com:team/app.git", "github", "https://api.github.com", "team/app"],
      ["https://corp.ghe.com/team/app", "github", "https://api.corp.ghe.com", "team/app"],
      ["https://git.example.org:8443/team/app", "github", "https://git.example.org:8443/api/v3", "team/app"],
      ["ssh://git@git.example.org:2222/a/b/c.git", "gitlab", "https://git.example.org/api/v4", "a/b/c"],
      ["https://codeberg.org/team/app/", "forgejo", "https://codeberg.org:443/api/v1", "team/app"],
      ["git@bitbucket.org:team/app.git", "bitbucket", "https://api.bitbucket.org/2.0", "team/app"],
    ] as const) {
      expect(placeOf(remoteOf(url), name), url).to.deep.equal({ name, api, repository: repository.split("/") });
    }
    expect(providerOfHost({ host: "GitLab.com" })).to.equal("gitlab");
    expect(providerOfHost({ host: "corp.ghe.com" })).to.equal("github");
    expect(providerOfHost({ host: "git.example.org" })).to.equal(undefined);
    expect(placeOf(remoteOf("https://github.com/a/b/c"), "github")).to.match(/^must end in OWNER\/REPOSITORY/);
    expect(placeOf(remoteOf("https://code.example.org/a/b"), "bitbucket")).to.match(/^must be at bitbucket\.org/);
  });

  it("is reached under the rules of repositories", async () => {
    const send = apiSender({ networks: [], caFile: null });
    for (const api of ["http://127.0.0.1:1/api/v1", "https://127.0.0.1:1/api/v1"]) {
      const closed = openProvider({ name: "gitea", api, repository: ["team", "app"] }, TOKEN, send);
      expect((await faultOf(closed.find("a", "b"))).message).to.include("MILLRACE_GIT_NETWORKS");
    }
  });
});
