/** What an installation has after some days of use, for pictures of its pages: pipelines of several kinds and their runs. */
import { join } from "node:path";
import { BareRepository } from "../support/bare-repository.ts";
import { GitHttpServer } from "../support/git-server.ts";
import { shell, type Showcase } from "../web/showcase.ts";
import { fillAdministration } from "./administration.ts";
import type { Shown } from "./pictures.ts";

const GREEN = "\\033[32m";
const RED = "\\033[31m";
const DIM = "\\033[2m";
const PLAIN = "\\033[0m";

const says = (line: string): string => `printf '${line}\\n'`;

const INSTALL = [
  "echo '::group::Install the dependencies'",
  says(`${DIM}npm ci --ignore-scripts${PLAIN}`),
  'for one in preact signals iso vite; do echo "added $one"; sleep 0.05; done',
  says("added 214 packages in 3s"),
  "echo '::endgroup::'",
].join("\n");

const junit = (failed: boolean): string =>
  [
    '<testsuite name="checkout" tests="4">',
    '<testcase classname="checkout/basket" name="keeps the basket over a login" time="0.41"/>',
    '<testcase classname="checkout/price" name="rounds each line, not the sum" time="0.08">',
    failed ? '<failure message="expected 1299 to equal 1300">at src/price.test.ts:48</failure>' : "",
    "</testcase>",
    '<testcase classname="checkout/price" name="adds the tax of the country" time="0.05"/>',
    '<testcase classname="checkout/voucher" name="counts a voucher once" time="0.31"/>',
    "</testsuite>",
  ].join("");

const UNITS = [
  INSTALL,
  "for file in basket price voucher address payment; do",
  `  printf '${GREEN} ✓${PLAIN} src/%s.test.ts ${DIM}(%s tests)${PLAIN}\\n' "$file" 12; sleep 0.08`,
  "done",
  `if [ "$BROKEN" = yes ] && [ "$NODE" = 24 ]; then`,
  `  printf '%s' '${junit(true)}' > junit.xml`,
  `  printf '${RED} ✗${PLAIN} src/price.test.ts › rounds each line, not the sum\\n' >&2`,
  "  echo '    expected 1299 to equal 1300' >&2",
  "  echo '      at src/price.test.ts:48:22' >&2",
  "  echo '::error file=src/price.test.ts,line=48,title=rounds each line::expected 1299 to equal 1300'",
  `  printf '\\n${RED}Tests  1 failed${PLAIN} | 59 passed (60)\\n'`,
  "  exit 1",
  "fi",
  `printf '%s' '${junit(false)}' > junit.xml`,
  `printf '\\n${GREEN}Tests  60 passed${PLAIN} (60)\\n'`,
  `[ "$NODE" = 22 ] && printf '### Coverage\\n\\n| Part | Lines |\\n| --- | --- |\\n| basket | 96 %% |\\n| price | 91 %% |\\n' >> "$MILLRACE_SUMMARY" || true`,
].join("\n");

/** Kept by the first run, restored by the others. */
const cache = (key: string) =>
  ({
    name: "restore",
    uses: "cache",
    args: { key, restoreKeys: [key.slice(0, key.indexOf("-"))], paths: ["kept"] },
  }) as const;
const KEEP = "mkdir -p kept; [ -e kept/packages ] || seq 1 40000 > kept/packages; echo 'kept is up to date'";

const STOREFRONT = {
  notify: [
    { on: ["failure", "fixed"], slack: { url: "${{ secrets.SLACK_URL }}", channel: "#storefront" } },
    { on: ["approval"], email: { to: ["releases@shop.example"] } },
  ],
  description: "Checks, images and deployments of the storefront",
  triggers: {
    manual: {
      inputs: {
        broken: { type: "choice", options: ["no", "yes"], default: "no", description: "Runs with a failing test" },
        replicas: { type: "number", default: 2, description: "How many copies are deployed" },
      },
    },
    cron: [{ name: "nightly", schedule: "30 2 * * *", timezone: "Europe/Berlin" }],
    event: [
      { provider: "github", event: "push", branches: ["main", "release/**"], paths: { exclude: ["docs/**"] } },
      { provider: "github", event: "pull_request", branches: ["main"] },
    ],
  },
  stages: [
    {
      name: "check",
      jobs: [
        {
          name: "lint",
          steps: [
            cache("npm-4f2a91c0"),
            shell("install", `${KEEP}\n${INSTALL}`),
            shell("oxlint", "sleep 0.4; echo 'Found 0 warnings and 0 errors.'"),
          ],
        },
        {
          name: "types",
          steps: [cache("tsc-7.0.2"), shell("tsc", `${KEEP}; sleep 0.9; echo 'No type error.'`)],
        },
        {
          name: "unit",
          matrix: { axes: { node: ["20", "22", "24"] } },
          env: { BROKEN: "${{ variables.broken }}", NODE: "${{ matrix.node }}" },
          steps: [shell("test", UNITS, { reports: { junit: ["junit.xml"] } })],
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
            shell("build", "sleep 0.6; echo 'exporting layers'; mkdir -p dist; echo shop > dist/manifest.json", {
              artifacts: [{ name: "image-${{ matrix.arch }}-${{ matrix.base }}", paths: ["dist"] }],
            }),
            shell("scan", "sleep 0.3; echo 'no known vulnerability'"),
          ],
        },
        { name: "docs", steps: [shell("render", "sleep 0.2; echo 'rendered 48 pages'")] },
      ],
    },
    {
      name: "deploy",
      jobs: [
        { name: "staging", steps: [shell("apply", "sleep 0.3; echo 'staging runs the new version'")] },
        { name: "smoke", needs: ["staging"], steps: [shell("visit", "sleep 0.2; echo '200 OK'")] },
        {
          name: "production",
          needs: ["smoke"],
          approval: { message: "Deploy the storefront to production?", allowed: { roles: ["owner"] } },
          steps: [shell("apply", "sleep 0.2; echo 'production runs the new version'")],
        },
      ],
    },
  ],
};

const PAYMENTS = `# Tests and release of the payments service.
include: [.millrace/checks.yaml]
triggers:
  event:
    - { provider: gitea, event: push, branches: [main] }
jobs:
  - name: release
    steps:
      - name: tag
        uses: shell
        args:
          script: |-
            sleep 0.3
            echo "released"
`;

const CHECKS = `jobs:
  - name: checks
    steps:
      - name: go-test
        uses: shell
        args: { script: "sleep 0.2; echo ok payments/ledger 1.204s; echo ok payments/refund 0.871s" }
`;

export interface Content extends Shown {
  readonly end: () => Promise<void>;
}

/** Adds pipelines with histories, agents, and runs in every state to what {@link Showcase.fill} has made. */
export async function fillMore(showcase: Showcase): Promise<Content> {
  const { installation, projectId } = showcase;
  const administration = await fillAdministration(showcase);
  await installation.agent("build-2", undefined, { MILLRACE_AGENT_LABELS: "name=build-2,arch=arm64,zone=north" });
  const make = async (name: string, spec: object, more: object = {}): Promise<string> => {
    const { pipelineId } = await showcase.call("POST", "/pipelines", { name, projectId, ...more });
    await installation.api.saveSpec(pipelineId, spec);
    return pipelineId;
  };
  const prices = await make("price-import", {
    jobs: [
      {
        name: "import",
        approval: { message: "Import 1,204 new prices?", allowed: { users: ["maria"] } },
        steps: [shell("import", "echo 'imported 1204 prices'")],
      },
    ],
  });
  const storefront = await make("storefront", STOREFRONT, { description: STOREFRONT.description });
  const [payments, git] = await makePayments(showcase);
  const backup = await make("nightly-backup", {
    triggers: { cron: [{ name: "nightly", schedule: "0 3 * * *", timezone: "Europe/Berlin" }] },
    jobs: [{ name: "dump", steps: [shell("dump", "sleep 0.$(( $(date +%s) % 7 + 1 )); echo 'dumped 12 tables'")] }],
  });
  const models = await make("train-models", {
    jobs: [
      { name: "prepare", steps: [shell("fetch", "sleep 0.3; echo 'fetched 2.1 GB'")] },
      {
        name: "train",
        needs: ["prepare"],
        agentSelector: { matchLabels: { gpu: "yes", zone: "north" } },
        steps: [shell("fit", "echo fitted")],
      },
    ],
  });
  const search = await make("search-index", {
    jobs: [
      {
        name: "index",
        steps: [
          shell(
            "build",
            [
              "echo '::group::Read the catalogue'; seq -f 'page %.0f of the catalogue' 1 40; echo '::endgroup::'",
              `for n in $(seq 1 900); do printf '${GREEN}indexed${PLAIN} %s products\\n' "$((n * 25))"; sleep 1; done`,
            ].join("\n"),
          ),
        ],
      },
    ],
  });
  for (let turn = 0; turn < 12; turn++) {
    await showcase.waitFor(await showcase.trigger(backup), "success");
  }
  const paid = [await showcase.trigger(payments), await showcase.trigger(payments)];
  await Promise.all(paid.map((runId) => showcase.waitFor(runId, "success")));
  for (let turn = 0; turn < 9; turn++) {
    const broken = turn % 4 === 2;
    const runId = await showcase.trigger(storefront, { broken: broken ? "yes" : "no" });
    if (!broken) await showcase.approve(runId);
    await showcase.waitFor(runId, broken ? "failed" : "success");
  }
  const [pushed] = await administration.deliver();
  await showcase.approve(pushed!);
  await showcase.waitFor(pushed!, "success");
  const success = await showcase.trigger(storefront, { replicas: "3" });
  await showcase.approve(success);
  await showcase.waitFor(success, "success");
  const failed = await showcase.trigger(storefront, { broken: "yes", replicas: "3" });
  await showcase.waitFor(failed, "failed");
  const waiting = await showcase.trigger(models);
  const running = await showcase.trigger(search);
  const approval = await showcase.trigger(storefront);
  await showcase.waitForApproval(approval);
  await showcase.waitForApproval(await showcase.trigger(prices));
  const { list: agents } = await showcase.call("GET", "/agents");
  const busy = agents.find((agent: { readonly busy: number }) => agent.busy > 0) ?? agents[0];
  await showcase.call("PUT", `/agents/${busy.agentId}/labels`, { labels: { pool: "production" } });
  const { jobs } = await showcase.call("GET", `/pipelines/runs/${failed}`);
  const failedStep = jobs.find((job: { readonly status: string }) => job.status === "failed").steps[0].stepRunId;
  return {
    pipelines: { storefront, payments },
    runs: { failed, success, approval, waiting, running },
    failedStep,
    projectId,
    tenantId: showcase.tenantId,
    teamId: showcase.teamId,
    webhookId: showcase.webhookId,
    agentId: busy.agentId,
    hookId: administration.hookId,
    invitation: administration.invitation,
    userCode: administration.userCode,
    end: async () => {
      await git.stop();
      await administration.end();
    },
  };
}

async function makePayments(showcase: Showcase): Promise<readonly [pipelineId: string, git: GitHttpServer]> {
  const folder = join(showcase.world.folder, "git");
  const git = new GitHttpServer(folder, { user: "ann", password: "a-password-of-ann" });
  await git.start();
  const origin = new BareRepository(folder, "team/payments");
  origin.commit(
    { ".millrace/pipeline.yaml": PAYMENTS, ".millrace/checks.yaml": CHECKS },
    { message: "Add the pipeline" },
  );
  await showcase.call("POST", `/projects/${showcase.projectId}/secrets`, {
    name: "CODE_TOKEN",
    value: "ann:a-password-of-ann",
  });
  const { pipelineId } = await showcase.call("POST", "/pipelines", {
    name: "payments",
    description: "The payments service",
    projectId: showcase.projectId,
    repoUrl: `${git.origin}/team/payments.git`,
    repoCredential: "CODE_TOKEN",
  });
  return [pipelineId, git];
}
