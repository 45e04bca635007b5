/** The pictures of the pages, in the order in which docs/images/README.md shows them. */
import { readdirSync } from "node:fs";
import type { Page } from "playwright-core";

/** The ids of what the pictures show. */
export interface Shown {
  readonly pipelines: { readonly storefront: string; readonly payments: string };
  readonly runs: {
    readonly failed: string;
    readonly success: string;
    readonly approval: string;
    readonly waiting: string;
    readonly running: string;
  };
  /** The failed step of the failed run. */
  readonly failedStep: string;
  readonly projectId: string;
  readonly tenantId: string;
  readonly teamId: string;
  readonly webhookId: string;
  readonly hookId: string;
  readonly agentId: string;
  /** The address of an invitation, below the origin. */
  readonly invitation: string;
  /** Of a device that waits. */
  readonly userCode: string;
}

export interface Picture {
  readonly name: string;
  readonly title: string;
  readonly address: (shown: Shown) => string;
  /** What is done on the page before the picture is taken. */
  readonly before?: (page: Page) => Promise<unknown>;
  /** True for a page that a reader sees who is not logged in. */
  readonly isGuest?: boolean;
  /** True for a picture as a telephone shows the page. */
  readonly isNarrow?: boolean;
}

interface Group {
  readonly title: string;
  readonly pictures: readonly Picture[];
}

type More = Omit<Picture, "name" | "title" | "address">;
const picture = (name: string, title: string, address: string | Picture["address"], more: More = {}): Picture => ({
  name,
  title,
  address: typeof address === "string" ? () => address : address,
  ...more,
});
const logLines = (page: Page) => page.locator("[data-line]").first().waitFor();
const run =
  (which: keyof Shown["runs"], rest = "") =>
  (shown: Shown) =>
    `/runs/${shown.runs[which]}${rest}`;
const project = (rest: string) => (shown: Shown) => `/projects/${shown.projectId}${rest}`;
const tenant = (rest: string) => (shown: Shown) => `/admin/tenants/${shown.tenantId}${rest}`;
const failedStep = (shown: Shown) => `/runs/${shown.runs.failed}?step=${shown.failedStep}`;
const failedLog = (shown: Shown) => `/runs/${shown.runs.failed}/steps/${shown.failedStep}`;

const RUNS: readonly Picture[] = [
  picture("runs", "All runs", "/runs"),
  picture("run", "A run that waits for an approval", run("approval")),
  picture("run-failed", "A run whose test has failed, with what failed and its annotation", run("failed")),
  picture("run-step", "The log of a step beside the run", failedStep, { before: logLines }),
  picture("run-waiting", "Why a run waits, and the agent that fits best", run("waiting"), {
    before: async (page) => {
      await page.getByRole("button", { name: "Why?" }).click();
      await page.getByText("Nearest agent").waitFor();
    },
  }),
  picture("run-table", "The jobs and steps of a run as a table", run("failed", "?view=table")),
  picture("run-waterfall", "What each job of a run waited for", run("success", "?view=waterfall")),
  picture("run-timeline", "A run event by event, each with its cause", run("success", "?view=timeline")),
  picture("run-tests", "The tests of a run", run("failed", "?view=tests")),
  picture("run-artifacts", "The artifacts of a run", run("success", "?view=artifacts")),
  picture("log", "A log alone, at the first failure", failedLog, { before: logLines }),
  picture("log-live", "A log that goes on", run("running"), { before: openFirstLog }),
  picture(
    "compare",
    "A failed run beside the last success",
    (shown) => `/runs/${shown.runs.failed}/compare/${shown.runs.success}`,
  ),
];

const PIPELINES: readonly Picture[] = [
  picture("pipelines", "All pipelines, each with its last runs", "/pipelines"),
  picture("new-pipeline", "A new pipeline from an example", "/pipelines/new"),
  picture("new-pipeline-git", "New pipelines from a Git repository", "/pipelines/new?from=git"),
  picture(
    "pipeline",
    "One pipeline: runs, trend, what starts it",
    ({ pipelines }) => `/pipelines/${pipelines.storefront}`,
  ),
  picture(
    "pipeline-secrets",
    "The secrets of a pipeline",
    ({ pipelines }) => `/pipelines/${pipelines.storefront}/secrets`,
  ),
  picture(
    "pipeline-settings",
    "The settings of a pipeline in Git",
    ({ pipelines }) => `/pipelines/${pipelines.payments}/settings`,
  ),
  picture("edit", "The editor of a definition", ({ pipelines }) => `/pipelines/${pipelines.payments}/edit`, {
    before: (page) =>
      page
        .getByText(/^(No problem|\d+ errors?)/)
        .first()
        .waitFor(),
  }),
  picture(
    "trigger",
    "What a run would do, before it starts",
    ({ pipelines }) => `/pipelines/${pipelines.storefront}/trigger`,
  ),
];

const PROJECTS: readonly Picture[] = [
  picture("projects", "All projects", "/projects"),
  picture("project", "One project", project("")),
  picture("project-members", "The members of a project", project("/members")),
  picture("project-accounts", "Its service accounts", project("/accounts")),
  picture("project-secrets", "Its secrets", project("/secrets")),
  picture("project-variables", "Its variables", project("/variables")),
  picture("project-caches", "What its runs keep for later ones", project("/caches")),
  picture("project-settings", "Its settings, such as what is kept for how long", project("/settings")),
  picture("project-webhooks", "Its webhooks", project("/webhooks")),
  picture("webhook", "One webhook with its deliveries", (shown) => project(`/webhooks/${shown.webhookId}`)(shown)),
  picture("project-hooks", "Its hooks", project("/hooks")),
  picture("hook", "One hook with its deliveries", (shown) => project(`/hooks/${shown.hookId}`)(shown)),
  picture(
    "hook-delivery",
    "What the pipelines did with a delivery",
    (shown) => project(`/hooks/${shown.hookId}`)(shown),
    {
      before: async (page) => {
        await page.getByRole("button", { name: "push" }).first().click();
        await page.getByRole("dialog").getByRole("heading", { name: "What the pipelines did" }).waitFor();
      },
    },
  ),
  picture("project-notifications", "The messages that its pipelines have sent", project("/notifications")),
];

export const GROUPS: readonly Group[] = [
  {
    title: "Everywhere",
    pictures: [
      picture("home", "What needs you", "/"),
      picture("palette", "Go to anything by its name", "/runs", { before: (page) => page.keyboard.press("Control+k") }),
      picture("keys", "The keys of a page", run("success"), { before: (page) => page.keyboard.press("?") }),
    ],
  },
  { title: "Runs", pictures: RUNS },
  { title: "Pipelines", pictures: PIPELINES },
  {
    title: "Approvals and agents",
    pictures: [
      picture("approvals", "Approvals, and why you may not decide one", "/approvals"),
      picture("agents", "Agents and the tokens with which they register", "/agents"),
      picture("agent", "One agent: labels and jobs", ({ agentId }) => `/agents/${agentId}`),
      picture("add-agent", "The command that starts a new agent", "/agents", { before: addAgent }),
    ],
  },
  { title: "Projects", pictures: PROJECTS },
  {
    title: "Plugins and the cluster",
    pictures: [
      picture("plugins", "All plugins", "/plugins"),
      picture("plugin", "One plugin: its actions with their arguments", "/plugins/deploy/helm"),
      picture("cluster", "Nodes, shards and queues", "/cluster"),
    ],
  },
  {
    title: "Administration",
    pictures: [
      picture("admin-users", "Users", "/admin/users"),
      picture("admin-tenants", "Tenants", "/admin/tenants"),
      picture("tenant", "The members of a tenant", tenant("")),
      picture("tenant-teams", "Its teams", tenant("/teams")),
      picture("tenant-team", "Who is in a team", (shown) => tenant(`/teams/${shown.teamId}`)(shown)),
      picture("tenant-accounts", "Its service accounts", tenant("/accounts")),
      picture("admin-audit", "Who did what", "/admin/audit"),
      picture("admin-settings", "The settings of the installation", "/admin/settings"),
    ],
  },
  {
    title: "Account",
    pictures: [
      picture("account", "Your sessions, tokens and e-mails", "/me"),
      picture("login", "The login", "/login", { isGuest: true }),
      picture("invitation", "The page of an invitation", ({ invitation }) => invitation, { isGuest: true }),
      picture("device", "A device that asks to act as you", ({ userCode }) => `/device?user_code=${userCode}`, {
        before: async (page) => {
          await page.getByRole("button", { name: "Go on" }).click();
          await page.getByRole("button", { name: "Admit" }).waitFor();
        },
      }),
    ],
  },
  {
    title: "On a telephone",
    pictures: [
      picture("home-narrow", "What needs you", "/", { isNarrow: true }),
      picture("run-narrow", "A failed run", run("failed"), { isNarrow: true }),
      picture("table-narrow", "Its jobs", run("failed", "?view=table"), { isNarrow: true }),
      picture("log-narrow", "A log", failedLog, { isNarrow: true, before: logLines }),
    ],
  },
];

async function openFirstLog(page: Page): Promise<void> {
  await page.locator("main [data-status=running]").first().waitFor();
  await page.keyboard.press("2");
  await page.getByRole("table", { name: "Table" }).locator("[data-row-link]").first().click();
  await logLines(page);
}

async function addAgent(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Add an agent" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("build machines");
  await dialog.getByRole("button", { name: "Make the token" }).click();
  await dialog.getByText("millrace agent --gateway").waitFor();
}

const fileOf = (files: readonly string[], name: string, theme: string): string | undefined =>
  files.find((file) => file === `${name}-${theme}.webp` || file === `${name}-${theme}.png`);

/** The page that shows the pictures of a folder. Throws for a picture that is missing, and for one that no page has. */
export function listOf(folder: string): string {
  const files = readdirSync(folder).filter((file) => file !== "README.md");
  const used = new Set<string>();
  const groups = GROUPS.map(({ title, pictures }) => {
    const parts = pictures.map((one) => {
      const found = ["light", "dark"].map((theme) => fileOf(files, one.name, theme));
      for (const file of found) {
        if (file === undefined) throw new Error(`${one.name} has no picture in both themes`);
        used.add(file);
      }
      const [light, dark] = found;
      return `### ${one.title}\n\n![${one.title}, light](${light})\n\n![${one.title}, dark](${dark})\n`;
    });
    return `## ${title}\n\n${parts.join("\n")}`;
  });
  const left = files.filter((file) => !used.has(file));
  if (left.length > 0) throw new Error(`pictures of no page: ${left.join(", ")}`);
  return `# Pages in both themes\n\n\`npm run screenshots\` makes these pictures, of an installation that it starts and fills.\n\n${groups.join("\n")}`;
}
