/** An installation with something on every page, for tests of the pages and for their pictures. */
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { startBrowser } from "../support/browser-program.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { packageOf } from "../support/plugin-packages.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

export const PASSWORD = "correct horse battery";

export const shell = (name: string, script: string, more: object = {}) => ({
  name,
  uses: "shell",
  args: { script },
  ...more,
});

const JUNIT = (failures: readonly string[]): string =>
  [
    `<testsuite name="cart" tests="3" failures="${failures.length}">`,
    ...["adds a book", "counts the price", "empties the cart"].map(
      (name) =>
        `<testcase classname="cart" name="${name}" time="0.2">${failures.includes(name) ? '<failure message="expected 12 but got 11"/>' : ""}</testcase>`,
    ),
    "</testsuite>",
  ].join("");

/** Three stages; the run fails with the variable `broken`, and asks before it deploys. */
const SHOP = {
  triggers: {
    cron: [{ name: "nightly", schedule: "30 2 * * *", timezone: "Europe/Berlin" }],
    event: [{ provider: "generic", event: "release", branches: ["main"] }],
  },
  stages: [
    {
      name: "checks",
      jobs: [
        { name: "lint", steps: [shell("oxlint", "seq -f 'src/file-%.0f.ts is fine' 1 12")] },
        {
          name: "test",
          steps: [
            shell(
              "units",
              [
                `if [ "$BROKEN" = yes ]; then printf '%s' '${JUNIT(["counts the price"])}' > junit.xml; else printf '%s' '${JUNIT([])}' > junit.xml; fi`,
                "echo \"began at $(date +%s)\"; seq -f 'test %.0f of the cart has passed' 1 30",
                "if [ \"$BROKEN\" = yes ]; then echo '::error title=cart::expected 12 but got 11'; exit 1; fi",
                'echo "All tests have **passed**." >> "$MILLRACE_SUMMARY"',
              ].join("\n"),
              { env: { BROKEN: "${{ variables.broken || 'no' }}" }, reports: { junit: ["junit.xml"] } },
            ),
          ],
        },
      ],
    },
    {
      name: "build",
      jobs: [
        {
          name: "image",
          matrix: { axes: { arch: ["amd64", "arm64"], base: ["alpine", "debian"] } },
          steps: [
            shell("build", "echo building; mkdir dist; echo '<h1>shop</h1>' > dist/index.html", {
              artifacts: [{ name: "site", paths: ["dist"] }],
            }),
          ],
        },
      ],
    },
    {
      name: "deploy",
      jobs: [{ name: "production", approval: { message: "Deploy to production?" }, steps: [shell("ship", "echo ok")] }],
    },
  ],
};

export interface ShowcaseRuns {
  readonly success: string;
  readonly failed: string;
  readonly waiting: string;
}

export class Showcase {
  readonly world: ProcessWorld;
  readonly installation: EmbeddedInstallation;
  readonly browser: Browser;
  readonly #receiver: Server;
  readonly problems: string[] = [];
  projectId = "";
  pipelineId = "";
  tenantId = "";
  webhookId = "";
  hookId = "";
  agentId = "";
  teamId = "";
  /** Of the run that has failed. */
  stepRunId = "";
  runs: ShowcaseRuns = { success: "", failed: "", waiting: "" };

  private constructor(world: ProcessWorld, installation: EmbeddedInstallation, browser: Browser, receiver: Server) {
    this.world = world;
    this.installation = installation;
    this.browser = browser;
    this.#receiver = receiver;
  }

  /** An installation with an agent and the user `olga`, an owner; nothing else yet. `env`: added to that of the node. */
  static async start(env: Readonly<Record<string, string>> = {}): Promise<Showcase> {
    const world = await ProcessWorld.create();
    const installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "node"), {
      MILLRACE_OUTGOING_NETWORKS: "127.0.0.0/8",
      MILLRACE_GIT_NETWORKS: "127.0.0.0/8",
      ...env,
    });
    await installation.agent("build-1");
    const receiver = createServer((_, response) => response.writeHead(204).end()).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const showcase = new Showcase(world, installation, await startBrowser(), receiver);
    await showcase.call("POST", "/users", { name: "olga", role: "owner", password: PASSWORD });
    return showcase;
  }

  async end(): Promise<void> {
    await this.browser.close();
    this.#receiver.close();
    await this.world.end();
  }

  get origin(): string {
    return `http://${this.installation.node.http}`;
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  async call(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await this.installation.call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.detail;
  }

  /** Makes what the pages show, and waits for its runs. */
  async fill(): Promise<void> {
    const { api } = this.installation;
    const project = await this.call("POST", "/projects", { name: "Web shop", description: "The shop and its cart" });
    this.projectId = project.projectId;
    this.tenantId = project.tenantId;
    const at = `/projects/${this.projectId}`;
    await this.call("POST", "/users", { name: "maria", role: "operator", password: PASSWORD, email: "m@shop.example" });
    await this.call("POST", "/invitations", { name: "piet", role: "viewer" });
    await this.call("PUT", `${at}/members/maria`, { role: "maintainer" });
    this.teamId = (await this.call("POST", `/tenants/${this.tenantId}/teams`, { name: "Builders" })).teamId;
    await this.call("PUT", `/tenants/${this.tenantId}/teams/${this.teamId}/members/maria`);
    await this.call("POST", `${at}/service-accounts`, { name: "deployer" });
    await this.call("POST", `${at}/secrets`, { name: "REGISTRY_TOKEN", value: "a-secret-of-the-shop" });
    await this.call("POST", `${at}/secrets`, { name: "HOOK_SECRET", value: "another-secret-of-the-shop" });
    await this.call("PUT", `${at}/variables/region`, { value: "eu-north" });
    await this.call("PUT", `${at}/settings`, { values: { "log.lines": 200_000, "retention.runs": { age: "60d" } } });
    const { port } = this.#receiver.address() as AddressInfo;
    const webhook = { url: `http://127.0.0.1:${port}/events`, types: ["svc.pipeline.*"], description: "Chat" };
    this.webhookId = (await this.call("POST", `${at}/webhooks`, webhook)).webhookId;
    const hook = { name: "From the host", kind: "generic", proof: "none" };
    const { hookId, path } = await this.call("POST", `${at}/hooks`, hook);
    this.hookId = hookId;
    this.agentId = (await this.call("GET", "/agents")).list[0].agentId;
    await fetch(`${this.origin}/api/v1/plugins`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.installation.adminToken}`, "content-type": "application/gzip" },
      body: Buffer.from(await packageOf("1.2.0")),
    });
    this.pipelineId = (await this.call("POST", "/pipelines", { name: "shop", projectId: this.projectId })).pipelineId;
    await api.saveSpec(this.pipelineId, SHOP);
    await fetch(`${this.origin}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ event: "push", ref: "refs/heads/main" }),
    });
    const success = await this.trigger(this.pipelineId);
    await this.approve(success);
    await this.waitFor(success, "success");
    const failed = await this.trigger(this.pipelineId, { broken: "yes" });
    await this.waitFor(failed, "failed");
    const { jobs } = await this.call("GET", `/pipelines/runs/${failed}`);
    this.stepRunId = jobs.find((job: { readonly status: string }) => job.status === "failed").steps[0].stepRunId;
    const waiting = await this.trigger(this.pipelineId);
    await this.waitForApproval(waiting);
    this.runs = { success, failed, waiting };
  }

  async trigger(pipelineId: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
    return (await this.call("POST", `/pipelines/${pipelineId}/trigger`, { variables, triggeredBy: "olga" })).runId;
  }

  waitFor(runId: string, status: string): Promise<unknown> {
    return until(`${runId} is ${status}`, async () => {
      const run = await this.call("GET", `/pipelines/runs/${runId}`);
      return run.status === status;
    });
  }

  waitForApproval(runId: string): Promise<string> {
    return until(`${runId} asks for an approval`, async () => {
      const { list } = await this.call("GET", `/pipelines/runs/${runId}/approvals`);
      return list[0]?.approvalId as string | undefined;
    });
  }

  async approve(runId: string): Promise<void> {
    const approvalId = await this.waitForApproval(runId);
    const { pipelineId } = await this.call("GET", `/pipelines/runs/${runId}`);
    await this.call("POST", `/pipelines/${pipelineId}/runs/${runId}/approvals/${approvalId}/approve`, {});
  }

  /** A page of a browser in which `name` is logged in. What is wrong with it is collected in `problems`. */
  async page(name = "olga", options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 800 },
      baseURL: this.origin,
      reducedMotion: "reduce",
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    this.watch(page);
    await page.goto("/login?next=/runs");
    await page.fill("[name=name]", name);
    await page.fill("[name=password]", PASSWORD);
    await page.keyboard.press("Enter");
    // The address of the login names that page too, so the path alone is compared.
    await page.waitForURL(({ pathname }) => pathname === "/runs");
    return page;
  }

  watch(page: Page): void {
    page.on("pageerror", (error) => this.problems.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy/i.test(message.text())) this.problems.push(message.text());
    });
  }

  /** Every page by its name, with its address. */
  pages(): readonly (readonly [name: string, address: string])[] {
    const { success, failed, waiting } = this.runs;
    const project = `/projects/${this.projectId}`;
    return [
      ["home", "/"],
      ["runs", "/runs"],
      ["pipelines", "/pipelines"],
      ["new-pipeline", "/pipelines/new"],
      ["new-pipeline-git", "/pipelines/new?from=git"],
      ["pipeline", `/pipelines/${this.pipelineId}`],
      ["pipeline-secrets", `/pipelines/${this.pipelineId}/secrets`],
      ["pipeline-settings", `/pipelines/${this.pipelineId}/settings`],
      ["edit", `/pipelines/${this.pipelineId}/edit`],
      ["trigger", `/pipelines/${this.pipelineId}/trigger`],
      ["run", `/runs/${waiting}`],
      ["run-failed", `/runs/${failed}`],
      ["log", `/runs/${failed}/steps/${this.stepRunId}`],
      ["run-table", `/runs/${success}?view=table`],
      ["run-waterfall", `/runs/${success}?view=waterfall`],
      ["run-timeline", `/runs/${success}?view=timeline`],
      ["run-tests", `/runs/${failed}?view=tests`],
      ["run-artifacts", `/runs/${success}?view=artifacts`],
      ["compare", `/runs/${failed}/compare/${success}`],
      ["approvals", "/approvals"],
      ["agents", "/agents"],
      ["agent", `/agents/${this.agentId}`],
      ["projects", "/projects"],
      ["project", project],
      ...[
        "members",
        "accounts",
        "secrets",
        "variables",
        "caches",
        "settings",
        "webhooks",
        "hooks",
        "notifications",
      ].map((part) => [`project-${part}`, `${project}/${part}`] as const),
      ["webhook", `${project}/webhooks/${this.webhookId}`],
      ["hook", `${project}/hooks/${this.hookId}`],
      ["plugins", "/plugins"],
      ["plugin", "/plugins/team/greet"],
      ["cluster", "/cluster"],
      ...["users", "tenants", "audit", "settings"].map((part) => [`admin-${part}`, `/admin/${part}`] as const),
      ["tenant", `/admin/tenants/${this.tenantId}`],
      ["tenant-teams", `/admin/tenants/${this.tenantId}/teams`],
      ["tenant-team", `/admin/tenants/${this.tenantId}/teams/${this.teamId}`],
      ["tenant-accounts", `/admin/tenants/${this.tenantId}/accounts`],
      ["account", "/me"],
      ["no-page", "/nowhere"],
    ];
  }

  /** Waits until the page shows what it has, and nothing of it is loading. */
  async settled(page: Page): Promise<void> {
    await page.locator("main h1, main [role=alert]").first().waitFor();
    await page.locator("main [role=status][aria-label=Loading]").first().waitFor({ state: "detached" });
  }
}
