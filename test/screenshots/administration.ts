/** Users, rights, hooks, plugins and agents of an installation that has been used for days, for pictures of its pages. */
import { createHmac } from "node:crypto";
import { type PluginFile, writePackage } from "../../src/plugins/package.ts";
import { fileOf } from "../support/plugin-packages.ts";
import { freePort } from "../support/ports.ts";
import { startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { PASSWORD, type Showcase } from "../web/showcase.ts";

const HOOK_KEY = "a-secret-of-the-hook";

export interface Administration {
  readonly hookId: string;
  readonly invitation: string;
  readonly userCode: string;
  /** Sends what a host of repositories sends, and answers the runs that have started. */
  readonly deliver: () => Promise<readonly string[]>;
  readonly end: () => Promise<void>;
}

export async function fillAdministration(showcase: Showcase): Promise<Administration> {
  const chat = await startReceiver();
  chat.answer = () => ({ status: 200, body: "ok" });
  const invitation = await addUsers(showcase);
  await addAccounts(showcase);
  await addValues(showcase, `${chat.url}/services/storefront`);
  await addAgents(showcase);
  for (const files of [helm("2.3.1"), helm("2.4.0"), message("1.1.0"), scan("0.9.2")]) await push(showcase, files);
  const at = `/projects/${showcase.projectId}`;
  await showcase.call("POST", `${at}/webhooks`, {
    url: `http://127.0.0.1:${await freePort()}/deployments`,
    types: ["svc.pipeline.*"],
    description: "Dashboard of deployments",
  });
  const hook = await showcase.call("POST", `${at}/hooks`, { name: "GitHub", kind: "github", secret: "GITHUB_KEY" });
  return {
    hookId: hook.hookId,
    invitation,
    userCode: await askForDevice(showcase),
    deliver: () => deliver(showcase, `${at}/hooks/${hook.hookId}`, hook.path),
    end: () => chat.close(),
  };
}

/** Answers the address of an invitation, below the origin. */
async function addUsers(showcase: Showcase): Promise<string> {
  const { list } = await showcase.call("GET", "/users");
  const olga = list.find((user: { readonly name: string }) => user.name === "olga");
  await showcase.call("PATCH", `/users/${olga.userId}`, { email: "olga@shop.example" });
  const kofi = { name: "kofi", role: "viewer", password: PASSWORD, email: "kofi@shop.example" };
  await showcase.call("POST", "/users", kofi);
  const lena = await showcase.call("POST", "/users", { name: "lena", role: "operator", password: PASSWORD });
  await showcase.call("PATCH", `/users/${lena.userId}`, { disabled: true });
  const tenant = `/tenants/${showcase.tenantId}`;
  await showcase.call("PUT", `${tenant}/teams/${showcase.teamId}/members/kofi`);
  const night = await showcase.call("POST", `${tenant}/teams`, { name: "On call" });
  await showcase.call("PUT", `${tenant}/teams/${night.teamId}/members/maria`);
  await showcase.call("PUT", `${tenant}/members/${night.teamId}`, { role: "operator" });
  await showcase.call("PUT", `${tenant}/members/maria`, { role: "admin" });
  await showcase.call("PUT", `/projects/${showcase.projectId}/members/${showcase.teamId}`, { role: "maintainer" });
  const research = await showcase.call("POST", "/tenants", { name: "Research" });
  await showcase.call("POST", "/projects", {
    name: "Recommendations",
    description: "Models for what customers may like",
    tenantId: research.tenantId,
  });
  const { tenantId } = await showcase.call("POST", "/tenants", { name: "Agency of 2024" });
  await showcase.call("PATCH", `/tenants/${tenantId}`, { archived: true });
  const { link } = await showcase.call("POST", "/invitations", { name: "ines", role: "operator" });
  const { pathname, search } = new URL(link);
  return `${pathname}${search}`;
}

async function addAccounts(showcase: Showcase): Promise<void> {
  const { installation, projectId, tenantId } = showcase;
  const at = `/projects/${projectId}`;
  const { list } = await showcase.call("GET", `${at}/service-accounts`);
  const deployer = `${at}/service-accounts/${list[0].userId}`;
  await showcase.call("POST", `${deployer}/tokens`, { name: "release job", scopes: ["trigger"], expiresIn: "90d" });
  await showcase.call("PUT", `${at}/members/deployer`, { role: "operator" });
  await showcase.call("POST", `${at}/service-accounts`, { name: "status-board" });
  await showcase.call("PUT", `${at}/members/status-board`, { role: "viewer" });
  await showcase.call("POST", `/tenants/${tenantId}/service-accounts`, { name: "inventory" });
  const login = await fetch(`${showcase.origin}/api/v1/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": "millrace/0.1.0 (linux)" },
    body: JSON.stringify({ name: "olga", password: PASSWORD, refresh: true }),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- any answer is read here
  const { accessToken } = ((await login.json()) as any).detail;
  const asOlga = async (method: string, path: string, body: unknown) => {
    const answer = await installation.call(method, path, body, accessToken);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  };
  await asOlga("POST", "/users/me/tokens", { name: "laptop", expiresIn: "90d" });
  await asOlga("POST", "/users/me/tokens", { name: "editor plugin", scopes: ["read"], expiresIn: "365d" });
  const { list: projects } = await showcase.call("GET", "/projects");
  const other = projects.find((one: { readonly name: string }) => one.name === "Recommendations");
  await asOlga("PUT", "/me/notifications", {
    choices: [
      { projectId, on: ["failure", "fixed"], runs: "mine" },
      { projectId: other.projectId, on: ["approval", "waiting"], runs: "all", longerThan: "30m" },
    ],
  });
}

async function addValues(showcase: Showcase, slackUrl: string): Promise<void> {
  const at = `/projects/${showcase.projectId}`;
  for (const [name, value] of [
    ["GITHUB_KEY", HOOK_KEY],
    ["SLACK_URL", slackUrl],
    ["NPM_TOKEN", "a-token-of-the-registry"],
  ] as const) {
    await showcase.call("POST", `${at}/secrets`, { name, value });
  }
  await showcase.call("PUT", `${at}/secrets/NPM_TOKEN`, { value: "another-token-of-the-registry" });
  for (const [name, value] of [
    ["registry", "registry.shop.example/storefront"],
    ["support_address", "https://shop.example/help"],
    ["canary_share", "5"],
  ] as const) {
    await showcase.call("PUT", `${at}/variables/${name}`, { value });
  }
  await showcase.call("PUT", "/settings", {
    values: { "retention.logs": { age: "30d" }, "calls.perToken": 3_000, "forks.approval": "always" },
  });
}

/** One that takes no new jobs, one that has not been seen since, and a token for more. */
async function addAgents(showcase: Showcase): Promise<void> {
  const { installation } = showcase;
  const labels = (text: string) => ({ MILLRACE_AGENT_LABELS: text });
  await installation.agent("build-3", undefined, labels("name=build-3,arch=amd64,zone=south"));
  const mac = await installation.agent("mac-1", undefined, labels("name=mac-1,xcode=26"));
  mac.kill("SIGKILL");
  await mac.exited;
  const { list } = await showcase.call("GET", "/agents");
  const { agentId } = list.find((agent: { readonly name: string }) => agent.name === "build-3");
  await showcase.call("POST", `/agents/${agentId}/drain`, { reason: "a new kernel on Monday" });
  await showcase.call("POST", "/agents/registration-tokens", {
    name: "machines with a GPU",
    expiresIn: "7d",
    maxUses: 4,
    labels: { pool: "gpu" },
  });
}

async function askForDevice(showcase: Showcase): Promise<string> {
  const answer = await fetch(`${showcase.origin}/api/v1/auth/device/code`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "client_id=laptop",
  });
  return ((await answer.json()) as { readonly user_code: string }).user_code;
}

async function deliver(showcase: Showcase, hook: string, path: string): Promise<readonly string[]> {
  const send = async (event: string, body: object): Promise<void> => {
    const text = JSON.stringify(body);
    const answer = await fetch(`${showcase.origin}${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/7e5c1f0",
        "x-github-event": event,
        "x-github-delivery": crypto.randomUUID(),
        "x-hub-signature-256": `sha256=${createHmac("sha256", HOOK_KEY).update(text).digest("hex")}`,
      },
      body: text,
    });
    if (!answer.ok) throw new Error(`${event}: ${await answer.text()}`);
  };
  const common = { repository: { full_name: "shop/storefront" }, sender: { login: "kofi", id: 7 } };
  const push = (branch: string, digit: string, message: string) => ({
    ...common,
    ref: `refs/heads/${branch}`,
    before: "3".repeat(40),
    after: `c0ffee${digit.repeat(34)}`,
    head_commit: { message },
  });
  await send("ping", { ...common, zen: "Design for failure." });
  await send("push", push("spike/fonts", "5", "Try other fonts"));
  await send("push", push("main", "8", "Round each line of the basket"));
  return until("the push has started a run", async () => {
    const { list } = await showcase.call("GET", `${hook}/deliveries?limit=10`);
    const runs = list.flatMap((one: { readonly runs: readonly string[] }) => one.runs);
    return runs.length > 0 ? (runs as string[]) : undefined;
  });
}

const SCRIPT = fileOf("bin/run.sh", "cat", true);
const manifest = (content: object): readonly PluginFile[] => [fileOf("plugin.yaml", JSON.stringify(content)), SCRIPT];
const object = (properties: object, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const text = (description: string, more: object = {}) => ({ type: "string", description, ...more });
const COMMAND = ["sh", "-e", "./bin/run.sh"];

const helm = (version: string) =>
  manifest({
    name: "deploy/helm",
    version,
    description: "Deploys charts to the clusters of the shop.",
    defaultAction: "upgrade",
    platforms: ["linux/x64", "linux/arm64"],
    actions: {
      upgrade: {
        description: "Installs a release or upgrades it, and waits until its pods are ready.",
        args: object(
          {
            chart: text("The chart, as a folder of the workspace or a reference of a registry."),
            release: text("The name of the release."),
            namespace: text("Where the release is.", { default: "storefront" }),
            cluster: { enum: ["north", "south"], description: "The cluster.", default: "north" },
            values: { type: "array", items: { type: "string" }, description: "Files of values; later ones count." },
            timeout: { type: "integer", minimum: 10, maximum: 3600, description: "Seconds until it counts as failed." },
          },
          ["chart", "release"],
        ),
        outputs: ["revision"],
        command: COMMAND,
      },
      rollback: {
        description: "Goes back to an earlier revision of a release.",
        args: object({ release: text("The name of the release."), revision: { type: "integer", minimum: 1 } }, [
          "release",
        ]),
        command: COMMAND,
      },
    },
  });

const message = (version: string) =>
  manifest({
    name: "team/announce",
    version,
    description: "Writes to the channel of the team.",
    actions: { announce: { args: object({ text: text("What it says.") }, ["text"]), command: COMMAND } },
  });

const scan = (version: string) =>
  manifest({
    name: "security/scan-image",
    version,
    description: "Looks for known vulnerabilities in an image.",
    actions: { scan: { args: object({ image: text("The image.") }, ["image"]), command: COMMAND } },
  });

async function push(showcase: Showcase, files: readonly PluginFile[]): Promise<void> {
  const answer = await fetch(`${showcase.origin}/api/v1/plugins`, {
    method: "POST",
    headers: { authorization: `Bearer ${showcase.installation.adminToken}`, "content-type": "application/gzip" },
    body: Buffer.from(await writePackage(files)),
  });
  if (!answer.ok) throw new Error(`the package was refused: ${await answer.text()}`);
}
