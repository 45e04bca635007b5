/** The webhooks of the small servers of hosts' APIs: each takes exactly the calls that its host documents. */
import { schemasOf } from "./host-schemas.ts";
import type { ProviderName } from "../../src/providers/provider.ts";

export interface StoredHook {
  readonly id: string;
  url: string;
  secret: string;
  isActive: boolean;
  events: string[];
  lastStatus: number | null;
}

type Answer = readonly [status: number, body: object];
type Members = Readonly<Record<string, unknown>>;

interface Api {
  readonly root: string;
  readonly paging: string;
  readonly update: "PATCH" | "PUT";
  /** What a body says, or what is wrong with it. */
  readonly read: (body: Members, isNew: boolean) => Omit<StoredHook, "id" | "lastStatus"> | string;
  readonly shown: (hook: StoredHook) => object;
  readonly listed: (shown: readonly object[]) => object;
}

function keysOf(body: Members): string {
  return Object.keys(body).toSorted().join();
}

const GITLAB_EVENTS = ["push_events", "tag_push_events", "merge_requests_events", "note_events", "releases_events"];

/** The bodies of GitHub, Gitea and Forgejo. `first`: what a new one has besides. */
function withConfig(first: Readonly<Record<string, string>>, configKeys: string): Api["read"] {
  return (body, isNew) => {
    const config = body["config"] as Readonly<Record<string, string>>;
    const [extra] = Object.keys(first);
    const wanted = (isNew ? ["active", "config", "events", extra!] : ["active", "config", "events"]).toSorted().join();
    if (keysOf(body) !== wanted) return `the body has ${keysOf(body)}`;
    if (isNew && body[extra!] !== first[extra!]) return `${extra} is ${String(body[extra!])}`;
    if (keysOf(config) !== configKeys || config["content_type"] !== "json") return `the config has ${keysOf(config)}`;
    return {
      url: config["url"]!,
      secret: config["secret"]!,
      isActive: body["active"] as boolean,
      events: body["events"] as string[],
    };
  };
}

const shownWithConfig = ({ id, url, isActive, events }: StoredHook) => ({
  id: Number(id),
  active: isActive,
  events,
  config: { url, content_type: "json", secret: "********" },
});

function giteaApi(type: string): Api {
  return {
    root: "/repos/team/app/hooks",
    paging: "limit=50",
    update: "PATCH",
    read: withConfig({ type }, "content_type,secret,url"),
    shown: (hook) => ({ ...shownWithConfig(hook), type }),
    listed: (shown) => shown,
  };
}

const APIS: Readonly<Record<ProviderName, Api>> = {
  github: {
    root: "/repos/team/app/hooks",
    paging: "per_page=100",
    update: "PATCH",
    read: withConfig({ name: "web" }, "content_type,insecure_ssl,secret,url"),
    shown: (hook) => ({
      ...schemasOf("github")!.example("hook"),
      ...shownWithConfig(hook),
      last_response: { code: hook.lastStatus, status: "unused", message: null },
    }),
    listed: (shown) => shown,
  },
  gitea: giteaApi("gitea"),
  forgejo: giteaApi("forgejo"),
  gitlab: {
    root: "/projects/team%2Fapp/hooks",
    paging: "per_page=100",
    update: "PUT",
    read: (body) => {
      const wanted = [...GITLAB_EVENTS, "enable_ssl_verification", "token", "url"].toSorted().join();
      if (keysOf(body) !== wanted) return `the body has ${keysOf(body)}`;
      const events = GITLAB_EVENTS.filter((event) => body[event] === true);
      return { url: body["url"] as string, secret: body["token"] as string, isActive: true, events };
    },
    shown: ({ id, url, isActive, events }) => ({
      id: Number(id),
      url,
      alert_status: isActive ? "executable" : "disabled",
      ...Object.fromEntries(GITLAB_EVENTS.map((event) => [event, events.includes(event)])),
    }),
    listed: (shown) => shown,
  },
  bitbucket: {
    root: "/repositories/team/app/hooks",
    paging: "pagelen=100",
    update: "PUT",
    read: (body) => {
      if (keysOf(body) !== "active,description,events,secret,url") return `the body has ${keysOf(body)}`;
      const { url, secret, active, events } = body as Readonly<Record<string, never>>;
      return { url: url!, secret: secret!, isActive: active!, events: events! };
    },
    shown: ({ id, url, isActive, events }) => ({ uuid: `{${id}}`, url, active: isActive, events, secret_set: true }),
    listed: (shown) => ({ pagelen: 100, values: shown }),
  },
};

export class HookApi {
  stored: StoredHook[] = [];
  readonly #api: Api;
  #count = 0;

  constructor(name: ProviderName) {
    this.#api = APIS[name];
  }

  /** Undefined for a call that is about no webhook. */
  answer(method: string, path: string, query: URLSearchParams, text: string): Answer | undefined {
    const { root, paging, update, read, shown, listed } = this.#api;
    if (path !== root && !path.startsWith(`${root}/`)) return undefined;
    const body = (text === "" ? {} : JSON.parse(text)) as Members;
    const id = decodeURIComponent(path.slice(root.length + 1)).replaceAll(/[{}]/g, "");
    if (id === "" && method === "GET") {
      if (String(query) !== paging) return [400, { message: `the query is ${String(query)}` }];
      return [200, listed(this.stored.map(shown))];
    }
    if (id === "" && method === "POST") {
      const given = read(body, true);
      if (typeof given === "string") return [400, { message: given }];
      const hook = { id: String(++this.#count), lastStatus: null, ...given };
      this.stored.push(hook);
      return [201, shown(hook)];
    }
    const found = this.stored.find((hook) => hook.id === id);
    if (found === undefined) return [404, { message: "Not Found" }];
    if (method === "DELETE") {
      this.stored = this.stored.filter((hook) => hook !== found);
      return [204, {}];
    }
    if (method !== update) return [405, { message: method }];
    const given = read(body, false);
    if (typeof given === "string") return [400, { message: given }];
    Object.assign(found, given);
    return [200, shown(found)];
  }
}
