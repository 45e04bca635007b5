/**
 * How the APIs of hosts say what the port asks of webhooks: data and pure functions. Sources: docs.github.com, "Repository
 * webhooks"; docs.gitlab.com, "Project webhooks"; `/api/swagger` of Gitea and Forgejo, "repository"; developer.atlassian.com,
 * Bitbucket Cloud REST API, "Repositories".
 */
import { z } from "zod";
import { type ApiRequest, path } from "./dialect.ts";
import type { HostHook, NewHostHook, ProviderName } from "./provider.ts";

export interface HookDialect {
  /** The events that the webhook must be sent, in the words of the host. */
  readonly events: readonly string[];
  list(repository: readonly string[]): ApiRequest;
  readonly listed: z.ZodType<readonly HostHook[]>;
  create(repository: readonly string[], hook: NewHostHook): ApiRequest;
  update(repository: readonly string[], id: string, hook: NewHostHook): ApiRequest;
  /** The answer to both. */
  readonly written: z.ZodType<HostHook>;
  delete(repository: readonly string[], id: string): ApiRequest;
}

/** Hosts name webhooks by numbers or texts. */
const hookId = z.union([z.int(), z.string()]).transform(String);
const address = z.string().max(4_000);

function reposOf(repository: readonly string[]): string {
  return `/repos/${path(repository)}/hooks`;
}

const GITHUB_EVENTS = ["push", "pull_request", "release", "issue_comment", "pull_request_review_comment"];

const githubHook = z
  .object({
    id: hookId,
    active: z.boolean(),
    events: z.array(z.string()),
    config: z.object({ url: address.optional(), content_type: z.string().optional() }),
    // The code is 0 or null while nothing has been sent.
    last_response: z.object({ code: z.int().nullable() }).nullish(),
  })
  .transform(({ id, active, events, config, last_response: last }): HostHook => {
    const missing = events.includes("*") ? [] : GITHUB_EVENTS.filter((event) => !events.includes(event));
    return {
      id,
      url: config.url ?? "",
      isActive: active,
      missing: [...missing, ...(config.content_type === "json" ? [] : ["content_type: json"])],
      lastStatus: last?.code ? last.code : null,
    };
  });

function githubBody({ url, secret }: NewHostHook): object {
  return { active: true, events: GITHUB_EVENTS, config: { url, content_type: "json", insecure_ssl: "0", secret } };
}

const GITHUB: HookDialect = {
  events: GITHUB_EVENTS,
  list: (repository) => ({ method: "GET", path: `${reposOf(repository)}?per_page=100` }),
  listed: z.array(githubHook),
  create: (repository, hook) => ({
    method: "POST",
    path: reposOf(repository),
    body: { name: "web", ...githubBody(hook) },
  }),
  update: (repository, id, hook) => ({
    method: "PATCH",
    path: `${reposOf(repository)}/${path([id])}`,
    body: githubBody(hook),
  }),
  written: githubHook,
  delete: (repository, id) => ({ method: "DELETE", path: `${reposOf(repository)}/${path([id])}` }),
};

const GITLAB_EVENTS = ["push_events", "tag_push_events", "merge_requests_events", "note_events", "releases_events"];

const gitlabHook = z
  .looseObject({ id: hookId, url: address, alert_status: z.string().optional() })
  .transform(({ id, url, alert_status: alert, ...events }): HostHook => {
    return {
      id,
      url,
      isActive: alert === undefined || alert === "executable",
      missing: GITLAB_EVENTS.filter((event) => events[event] !== true),
      lastStatus: null,
    };
  });

function gitlabHooksOf(repository: readonly string[]): string {
  return `/projects/${encodeURIComponent(repository.join("/"))}/hooks`;
}

function gitlabBody({ url, secret }: NewHostHook): object {
  const events = Object.fromEntries(GITLAB_EVENTS.map((event) => [event, true]));
  return { url, token: secret, enable_ssl_verification: true, ...events };
}

const GITLAB: HookDialect = {
  events: GITLAB_EVENTS,
  list: (repository) => ({ method: "GET", path: `${gitlabHooksOf(repository)}?per_page=100` }),
  listed: z.array(gitlabHook),
  create: (repository, hook) => ({ method: "POST", path: gitlabHooksOf(repository), body: gitlabBody(hook) }),
  update: (repository, id, hook) => ({
    method: "PUT",
    path: `${gitlabHooksOf(repository)}/${path([id])}`,
    body: gitlabBody(hook),
  }),
  written: gitlabHook,
  delete: (repository, id) => ({ method: "DELETE", path: `${gitlabHooksOf(repository)}/${path([id])}` }),
};

const GITEA_EVENTS = [
  "push",
  "pull_request",
  "pull_request_label",
  "pull_request_sync",
  "pull_request_comment",
  "issue_comment",
  "release",
];

const giteaHook = z
  .object({
    id: hookId,
    active: z.boolean(),
    events: z.array(z.string()).nullable(),
    config: z.object({ url: address.optional(), content_type: z.string().optional() }),
  })
  .transform(({ id, active, events, config }): HostHook => ({
    id,
    url: config.url ?? "",
    isActive: active,
    missing: [
      ...GITEA_EVENTS.filter((event) => events?.includes(event) !== true),
      ...(config.content_type === "json" ? [] : ["content_type: json"]),
    ],
    lastStatus: null,
  }));

/** `type`: in whose words deliveries are made. */
function gitea(type: "gitea" | "forgejo"): HookDialect {
  const bodyOf = ({ url, secret }: NewHostHook) => ({
    active: true,
    events: GITEA_EVENTS,
    config: { url, content_type: "json", secret },
  });
  return {
    events: GITEA_EVENTS,
    list: (repository) => ({ method: "GET", path: `${reposOf(repository)}?limit=50` }),
    listed: z.array(giteaHook),
    create: (repository, hook) => ({ method: "POST", path: reposOf(repository), body: { type, ...bodyOf(hook) } }),
    update: (repository, id, hook) => ({
      method: "PATCH",
      path: `${reposOf(repository)}/${path([id])}`,
      body: bodyOf(hook),
    }),
    written: giteaHook,
    delete: (repository, id) => ({ method: "DELETE", path: `${reposOf(repository)}/${path([id])}` }),
  };
}

const BITBUCKET_EVENTS = [
  "repo:push",
  "pullrequest:created",
  "pullrequest:updated",
  "pullrequest:fulfilled",
  "pullrequest:rejected",
  "pullrequest:comment_created",
];

const bitbucketHook = z
  .object({ uuid: z.string().max(100), url: address, active: z.boolean(), events: z.array(z.string()) })
  .transform(({ uuid, url, active, events }): HostHook => ({
    id: uuid,
    url,
    isActive: active,
    missing: BITBUCKET_EVENTS.filter((event) => !events.includes(event)),
    lastStatus: null,
  }));

function bitbucketHooksOf(repository: readonly string[]): string {
  return `/repositories/${path(repository)}/hooks`;
}

function bitbucketBody({ url, secret }: NewHostHook): object {
  return { description: "millrace", url, active: true, secret, events: BITBUCKET_EVENTS };
}

const BITBUCKET: HookDialect = {
  events: BITBUCKET_EVENTS,
  list: (repository) => ({ method: "GET", path: `${bitbucketHooksOf(repository)}?pagelen=100` }),
  listed: z.object({ values: z.array(bitbucketHook) }).transform(({ values }) => values),
  create: (repository, hook) => ({ method: "POST", path: bitbucketHooksOf(repository), body: bitbucketBody(hook) }),
  update: (repository, id, hook) => ({
    method: "PUT",
    path: `${bitbucketHooksOf(repository)}/${path([id])}`,
    body: bitbucketBody(hook),
  }),
  written: bitbucketHook,
  delete: (repository, id) => ({ method: "DELETE", path: `${bitbucketHooksOf(repository)}/${path([id])}` }),
};

export const HOOK_DIALECTS: Readonly<Record<ProviderName, HookDialect>> = {
  github: GITHUB,
  gitlab: GITLAB,
  gitea: gitea("gitea"),
  forgejo: gitea("forgejo"),
  bitbucket: BITBUCKET,
};
