/**
 * Small servers of the APIs of the hosts of repositories. Each takes exactly the calls that its host documents, as this project
 * makes them, and answers 400 with the reason to every other. Those of GitHub, Gitea and Forgejo check requests and answers
 * against the descriptions that GitHub and Gitea publish; those of GitLab and Bitbucket are written after their documentation.
 * No host has been compared with them.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ProviderName } from "../../src/providers/provider.ts";
import { GitHubApps } from "./github-apps.ts";
import { type HostCall, schemasOf } from "./host-schemas.ts";
import { HookApi } from "./provider-hook-servers.ts";
import { membersOf, type ShownStatus, STATUS_APIS, type StatusApi } from "./provider-status-servers.ts";

export const TOKEN = "a-token-of-the-host";

interface Pull {
  readonly number: number;
  readonly branch: string;
  readonly target: string;
  readonly title: string;
  readonly body: string;
  isOpen: boolean;
}

/** What a call asks for, or what is wrong with it. */
type Asked =
  | { readonly list: Pick<Pull, "branch" | "target"> }
  | { readonly create: Omit<Pull, "number" | "isOpen"> }
  | string;

/** How a host tells what a user may do, and which commit is the newest of a proposal. */
interface MemberApi {
  /** The path behind the base with its query, for `team/app`, with the name or id of the user in the place of `USER`. */
  readonly path: string;
  /** The answer about a user; undefined for a user that the host does not know. */
  readonly shown: (level: "write" | "read" | undefined) => object | undefined;
  readonly head: (sha: string) => object;
}

const COLLABORATORS: MemberApi = {
  path: "/repos/team/app/collaborators/USER/permission",
  shown: (level) => level && { permission: level, role_name: level, user: {} },
  head: (sha) => ({ head: { sha, ref: "x" } }),
};
const MEMBERS: Readonly<Record<ProviderName, MemberApi>> = {
  github: {
    ...COLLABORATORS,
    shown: (level) => level && { permission: level, role_name: level, user: null },
    head: (sha) => {
      const example = schemasOf("github")!.example("pull-request");
      // The teams of the example lack what the schema asks for.
      return { ...example, requested_teams: [], head: { ...(example["head"] as object), sha } };
    },
  },
  gitea: COLLABORATORS,
  forgejo: COLLABORATORS,
  gitlab: {
    path: "/projects/team%2Fapp/members/all/USER",
    shown: (level) => level && { state: "active", access_level: level === "write" ? 30 : 20 },
    head: (sha) => ({ sha }),
  },
  bitbucket: {
    path: `/workspaces/team/permissions/repositories/app?q=${encodeURIComponent('user.uuid = "USER"').replaceAll("%20", "+")}`,
    shown: (level) => ({ values: level === undefined ? [] : [{ type: "repository_permission", permission: level }] }),
    // Bitbucket shortens the ids of commits here.
    head: (sha) => ({ source: { commit: { hash: sha.slice(0, 12) } } }),
  },
};

interface Api {
  readonly base: string;
  readonly authorization: string;
  /** The path of the repository `team/app`. */
  readonly pulls: string;
  readonly asked: (method: string, rest: string, query: URLSearchParams, body: unknown) => Asked;
  readonly shown: (pull: Pull, origin: string) => object;
  /** An answer to a list: the newest one is the first. */
  readonly listed: (shown: readonly object[]) => readonly [status: number, body: object];
  readonly exists: readonly [status: number, body: object];
}

function exactly(query: URLSearchParams, expected: Readonly<Record<string, string>>): string | undefined {
  const sorted = (pairs: Iterable<readonly [string, string]>) =>
    Array.from(pairs, ([name, value]) => `${name}=${value}`)
      .toSorted()
      .join("&");
  const given = sorted(query);
  const wanted = sorted(Object.entries(expected));
  return given === wanted ? undefined : `the query is ${given}, not ${wanted}`;
}

function createdFrom(body: unknown): Asked {
  const members = membersOf(body, ["title", "body", "head", "base"]);
  if (typeof members === "string") return members;
  return {
    create: { branch: members["head"]!, target: members["base"]!, title: members["title"]!, body: members["body"]! },
  };
}

const GITHUB: Api = {
  base: "/api/v3",
  authorization: `Bearer ${TOKEN}`,
  pulls: "/repos/team/app/pulls",
  asked: (method, rest, query, body) => {
    if (method === "POST" && rest === "") return createdFrom(body);
    const [owner, branch = ""] = (query.get("head") ?? "").split(":");
    const target = query.get("base") ?? "";
    const wrong = exactly(query, {
      head: `team:${branch}`,
      base: target,
      state: "all",
      sort: "created",
      direction: "desc",
      per_page: "1",
    });
    return wrong ?? (owner === "team" && rest === "" ? { list: { branch, target } } : rest);
  },
  shown: ({ number, isOpen, branch, target, title, body }, origin) => {
    const example = schemasOf("github")!.example("pull-request");
    return {
      ...example,
      id: number + 1_000,
      number,
      title,
      body,
      state: isOpen ? "open" : "closed",
      html_url: `${origin}/team/app/pull/${number}`,
      // The teams of the example lack what the schema asks for.
      requested_teams: [],
      head: { ...(example["head"] as object), ref: branch },
      base: { ...(example["base"] as object), ref: target },
    };
  },
  listed: (shown) => [200, shown.slice(0, 1)],
  exists: [
    422,
    {
      message: "Validation Failed",
      documentation_url: "https://docs.github.com/rest/pulls/pulls#create-a-pull-request",
      errors: [{ resource: "PullRequest", code: "custom", message: "A pull request already exists for team:x." }],
    },
  ],
};

const GITLAB: Api = {
  base: "/api/v4",
  authorization: `Bearer ${TOKEN}`,
  pulls: "/projects/team%2Fapp/merge_requests",
  asked: (method, rest, query, body) => {
    if (method === "POST" && rest === "") {
      const names = ["source_branch", "target_branch", "title", "description", "remove_source_branch"];
      const members = membersOf(body, names);
      if (typeof members === "string") return members;
      const { source_branch: branch, target_branch: target, title, description } = members;
      return { create: { branch: branch!, target: target!, title: title!, body: description! } };
    }
    const branch = query.get("source_branch") ?? "";
    const target = query.get("target_branch") ?? "";
    const narrowed = { source_branch: branch, target_branch: target, state: "all" };
    const wrong = exactly(query, { ...narrowed, order_by: "created_at", sort: "desc", per_page: "1" });
    return wrong ?? (rest === "" ? { list: { branch, target } } : rest);
  },
  shown: ({ number, isOpen }, origin) => ({
    id: number + 1_000,
    iid: number,
    state: isOpen ? "opened" : "merged",
    web_url: `${origin}/team/app/-/merge_requests/${number}`,
  }),
  listed: (shown) => [200, shown.slice(0, 1)],
  exists: [409, { message: ["Another open merge request already exists for this source branch: !1"] }],
};

const GITEA: Api = {
  base: "/api/v1",
  authorization: `token ${TOKEN}`,
  pulls: "/repos/team/app/pulls",
  asked: (method, rest, query, body) => {
    if (method === "POST" && rest === "") return createdFrom(body);
    const [, target = "", ...branch] = rest.split("/");
    if (query.size > 0 || branch.length === 0) return `nothing is at ${rest}`;
    return { list: { branch: branch.map(decodeURIComponent).join("/"), target: decodeURIComponent(target) } };
  },
  shown: ({ number, isOpen }, origin) => ({
    id: number + 1_000,
    number,
    state: isOpen ? "open" : "closed",
    merged: !isOpen,
    html_url: `${origin}/team/app/pulls/${number}`,
  }),
  listed: ([first]) => (first === undefined ? [404, { message: "The target couldn't be found." }] : [200, first]),
  exists: [409, { message: "pull request already exists for these targets [id: 1]" }],
};

const BITBUCKET: Api = {
  base: "/2.0",
  authorization: `Bearer ${TOKEN}`,
  pulls: "/repositories/team/app/pullrequests",
  asked: (method, rest, query, body) => {
    if (method === "POST" && rest === "") {
      const names = ["title", "description", "source", "destination", "close_source_branch"];
      const members = membersOf(body, names) as unknown;
      if (typeof members === "string") return members;
      const { title, description, source, destination } = members as {
        readonly [name: string]: string & { readonly branch: { readonly name: string } };
      };
      return {
        create: { branch: source!.branch.name, target: destination!.branch.name, title: title!, body: description! },
      };
    }
    const q = query.get("q") ?? "";
    const [, branch, target] =
      /^source\.branch\.name = ("[^"]*") AND destination\.branch\.name = ("[^"]*")$/.exec(q) ?? [];
    if (branch === undefined || target === undefined) return `the query is ${q}`;
    const states = query.getAll("state").join();
    if (states !== "OPEN,MERGED,DECLINED,SUPERSEDED") return `the states are ${states}`;
    return { list: { branch: JSON.parse(branch) as string, target: JSON.parse(target) as string } };
  },
  shown: ({ number, isOpen }, origin) => ({
    type: "pullrequest",
    id: number,
    state: isOpen ? "OPEN" : "MERGED",
    links: { html: { href: `${origin}/team/app/pull-requests/${number}` } },
  }),
  listed: (shown) => [200, { size: shown.length, pagelen: 1, values: shown.slice(0, 1) }],
  exists: [409, { type: "error", error: { message: "There is an open pull request already." } }],
};

const APIS: Readonly<Record<ProviderName, Api>> = {
  github: GITHUB,
  gitlab: GITLAB,
  gitea: GITEA,
  forgejo: GITEA,
  bitbucket: BITBUCKET,
};

/** The commit whose status the path is about; undefined for every other path. */
function commitOf({ base }: Api, statuses: StatusApi, path: string): string | undefined {
  const [before = "", behind = ""] = `${base}${statuses.path}`.split("COMMIT");
  if (!path.startsWith(before) || !path.endsWith(behind)) return undefined;
  const commit = path.slice(before.length, path.length - behind.length);
  return /^[0-9a-f]{40}$/.test(commit) ? commit : undefined;
}

export class ProviderServer {
  readonly pulls: Pull[] = [];
  /** What was set, the earliest first. */
  readonly statuses: ShownStatus[] = [];
  readonly hooks: HookApi;
  /** The Apps of GitHub; no other host has any. */
  readonly apps = new GitHubApps();
  /** Answers a call in place of the server when it answers true. It may begin with the true effect of the call. */
  intercept: (request: IncomingMessage, response: ServerResponse, act: () => void) => boolean = () => false;
  calls = 0;
  readonly #name: ProviderName;
  /** What users may do, by their logins; by their ids at GitLab and Bitbucket. */
  readonly members = new Map<string, "write" | "read">();
  /** The newest commits of proposals, by their numbers. */
  readonly heads = new Map<number, string>();
  readonly #api: Api;
  readonly #memberApi: MemberApi;
  readonly #server: Server;

  constructor(name: ProviderName) {
    this.#name = name;
    this.#api = APIS[name];
    this.#memberApi = MEMBERS[name];
    this.hooks = new HookApi(name);
    this.#server = createServer((request, response) => void this.answer(request, response));
  }

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get base(): string {
    return `${this.origin}${this.#api.base}`;
  }

  /** Whether a request is for the API. */
  isMine({ url = "" }: IncomingMessage): boolean {
    return url.startsWith(`${this.#api.base}/`);
  }

  /** A mistake of this server is an answer, too. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#answer(request, response);
    } catch (error) {
      response.writeHead(500).end(JSON.stringify({ message: `the test fails: ${String((error as Error).stack)}` }));
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.calls++;
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const send = (status: number, body: object) => {
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(status === 204 ? "" : JSON.stringify(body));
    };
    if (this.#name === "github") {
      response.setHeader("date", new Date(this.apps.now()).toUTCString());
      const issued = await this.#appOutcome(request, text);
      if (issued !== undefined) return send(...issued);
    }
    const outcome = () => this.#outcome(request, text);
    if (this.intercept(request, response, outcome)) return;
    send(...outcome());
  }

  async #appOutcome({ method = "", url = "", headers }: IncomingMessage, text: string) {
    const call = this.#callOf(method, url, text);
    const answer = await this.apps.answer(call.path, headers.authorization, call.body);
    return answer && this.#checked(call, () => answer);
  }

  #callOf(method: string, url: string, text: string): HostCall {
    const { pathname, searchParams: query } = new URL(url, this.origin);
    const body: unknown = text === "" ? null : JSON.parse(text);
    return { method, path: pathname.slice(this.#api.base.length), query, body };
  }

  /** The answer to a call, where the host publishes a description: of a call and with an answer that it describes. */
  #checked(call: HostCall, answer: () => readonly [number, object]): readonly [number, object] {
    const schemas = schemasOf(this.#name);
    if (schemas === undefined) return answer();
    // Forgejo has a type of its own for webhooks.
    const isForgejos = this.#name === "forgejo" && (call.body as { type?: unknown } | null)?.type === "forgejo";
    const described = isForgejos ? { ...call, body: { ...(call.body as object), type: "gitea" } } : call;
    const wrong = schemas.problemOf(described);
    if (wrong !== undefined) return [400, { message: `not as described: ${wrong}` }];
    const [status, body] = answer();
    const wrongAnswer = schemas.answerProblemOf(described, { status, body });
    return wrongAnswer === undefined ? [status, body] : [500, { message: `the test answers wrongly: ${wrongAnswer}` }];
  }

  #outcome({ method = "", url = "", headers }: IncomingMessage, text: string): readonly [number, object] {
    const refused = this.#refusalOf(method, url, headers.authorization);
    if (refused !== undefined) return refused;
    if (headers["user-agent"] === undefined) return [403, { message: "no user agent" }];
    return this.#checked(this.#callOf(method, url, text), () => this.#answerTo(method, url, text));
  }

  /** Whether the caller may do this: with the token of the test, or with one of an App that has the permission. */
  #refusalOf(method: string, url: string, authorization: string | undefined): readonly [number, object] | undefined {
    if (authorization === this.#api.authorization) return undefined;
    const token = authorization?.replace(/^Bearer /, "") ?? "";
    if (this.#name !== "github" || this.apps.issued.every((each) => each.token !== token)) {
      return [401, { message: "Bad credentials" }];
    }
    const permissions = { pulls: "pull_requests", statuses: "statuses", hooks: "repository_hooks" } as const;
    const [, repository = "", kind = ""] = /\/repos\/team\/([^/]+)\/(\w+)/.exec(url) ?? [];
    const needed = permissions[kind as keyof typeof permissions] ?? kind;
    if (this.apps.opens(token, repository, needed, method === "GET" ? "read" : "write")) return undefined;
    return [403, { message: "Resource not accessible by integration" }];
  }

  #answerTo(method: string, url: string, text: string): readonly [number, object] {
    const api = this.#api;
    const whole = new URL(url, this.origin);
    const commit = commitOf(api, STATUS_APIS[this.#name], whole.pathname);
    if (commit !== undefined) return this.#setStatus(method, whole, commit, text);
    const asked = method === "GET" ? this.#memberOrHead(url.slice(api.base.length)) : undefined;
    if (asked !== undefined) return asked;
    const hooked = this.hooks.answer(method, whole.pathname.slice(api.base.length), whole.searchParams, text);
    if (hooked !== undefined) return hooked;
    const root = `${api.base}${api.pulls}`;
    if (!whole.pathname.startsWith(root)) return [404, { message: "Not Found" }];
    const body: unknown = text === "" ? null : JSON.parse(text);
    const pullAsked = api.asked(method, whole.pathname.slice(root.length), whole.searchParams, body);
    if (typeof pullAsked === "string") return [400, { message: `not as documented: ${pullAsked}` }];
    const isSame = (other: Pick<Pull, "branch" | "target">) => (pull: Pull) =>
      pull.branch === other.branch && pull.target === other.target;
    const shown = (pull: Pull) => api.shown(pull, this.origin);
    if ("list" in pullAsked) return api.listed(this.pulls.filter(isSame(pullAsked.list)).toReversed().map(shown));
    if (this.pulls.filter(isSame(pullAsked.create)).some(({ isOpen }) => isOpen)) return api.exists;
    const pull = { ...pullAsked.create, number: this.pulls.length + 1, isOpen: true };
    this.pulls.push(pull);
    return [201, shown(pull)];
  }

  /** Undefined for a path of something else. */
  #memberOrHead(path: string): readonly [number, object] | undefined {
    const number = new RegExp(`^${this.#api.pulls}/(\\d+)$`).exec(path)?.[1];
    if (number !== undefined) {
      const head = this.heads.get(Number(number));
      return head === undefined ? [404, { message: "Not Found" }] : [200, this.#memberApi.head(head)];
    }
    const [before = "", behind = ""] = this.#memberApi.path.split("USER");
    if (!path.startsWith(before) || !path.endsWith(behind)) return undefined;
    const user = decodeURIComponent(path.slice(before.length, path.length - behind.length));
    const shown = this.#memberApi.shown(this.members.get(user));
    return shown === undefined ? [404, { message: "Not Found" }] : [200, shown];
  }

  /** The state that the host shows; undefined for none. */
  shown(commit: string, name: string): string | undefined {
    return this.statuses.findLast((status) => status.commit === commit && status.name === name)?.state;
  }

  #setStatus(method: string, { search }: URL, commit: string, text: string): readonly [number, object] {
    const statuses = STATUS_APIS[this.#name];
    if (method !== "POST" || search !== "") return [405, { message: `not as documented: ${method} ${search}` }];
    const asked = statuses.asked(JSON.parse(text));
    if (typeof asked === "string") return [400, { message: `not as documented: ${asked}` }];
    const refusal = statuses.refused?.(this.shown(commit, asked.name) ?? "", asked.state);
    if (refusal !== undefined) return [400, refusal];
    const status = { commit, ...asked };
    this.statuses.push(status);
    return [201, statuses.shown(status)];
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
