/** A run in a browser while one of the nodes behind the page is killed. The other nodes go on. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { ApiClient } from "../../src/cli/api-client.ts";
import { startBrowser } from "../support/browser-program.ts";
import { ProcessWorld, type ServeNode } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const ADMIN = "an-administrator-token-for-this-test-only";
const REGISTRATION = "a-registration-token-for-this-test-only";
const PASSWORD = "correct horse battery";
const LINES = 80;
/** Before the next line the step waits for the page. */
const FIRST_LINES = 15;
/** A step waits until the page is there. */
const untilThere = (file: string) => `until [ -e '${file}' ]; do sleep 0.05; done`;

/** Each status comes after those of the earlier groups. */
const ORDER = [
  ["pending"],
  ["queued"],
  ["running"],
  ["success", "failed", "cancelled", "partial", "timeout", "skipped"],
];
/** Notes for the run, its jobs and steps each status that the page shows, whenever the page changes. */
const STATUS_WATCH = `(() => {
  globalThis.shown = {};
  const note = (name, element) => {
    const status = element?.dataset.status;
    if (status === undefined) return;
    const list = (globalThis.shown[name] ??= []);
    if (list.at(-1) !== status) list.push(status);
  };
  const look = () => {
    note("run", document.querySelector("main header [data-status]"));
    for (const row of document.querySelectorAll("main [role=rowgroup] [role=row]")) {
      const name = row.querySelector("a[data-row-link]")?.ariaLabel ?? row.querySelector("button")?.innerText;
      if (name !== undefined) note(name, row.querySelector("[data-status]"));
    }
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
})()`;

describe("a page behind which a node is killed", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  let redis: TestRedis;
  let browser: Browser;
  let edge: ServeNode;
  let worker: ServeNode;
  let api: ApiClient;
  let page: Page;

  before(async () => {
    world = await ProcessWorld.create();
    redis = await startTestRedis();
    browser = await startBrowser();
    edge = await serve("edge");
    const gateway = await serve("gateway");
    worker = await serve("worker");
    const agent = world.agent(gateway.grpc!, {
      env: { MILLRACE_REGISTRATION_TOKEN: REGISTRATION, MILLRACE_AGENT_NAME: "one", LOG_LEVEL: "info" },
    });
    await agent.prints("welcomes this agent");
    await call("POST", "/users", { name: "olga", role: "operator", password: PASSWORD });
    api = new ApiClient({ baseUrl: `http://${edge.http}`, token: () => Promise.resolve(ADMIN) });
    page = await (await browser.newContext({ baseURL: `http://${edge.http}` })).newPage();
    page.setDefaultTimeout(30_000);
    await page.goto("/login?next=/runs");
    await page.fill("[name=name]", "olga");
    await page.fill("[name=password]", PASSWORD);
    await page.keyboard.press("Enter");
    // The address of the login names that page too, so the path alone is compared.
    await page.waitForURL(({ pathname }) => pathname === "/runs");
  });

  after(async () => {
    await browser?.close();
    await world?.end();
    await redis?.stop();
  });

  const serve = (roles: string, more: Readonly<Record<string, string>> = {}) =>
    world.serve(roles, {
      env: {
        REDIS_URL: redis.url,
        MILLRACE_BOOTSTRAP_TOKEN: ADMIN,
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
        ...more,
      },
    });

  async function call(method: string, path: string, body?: object) {
    const answer = await fetch(`http://${edge.http}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
    return ((await answer.json()) as any).detail;
  }

  async function trigger(name: string, jobs: readonly object[]) {
    const { pipelineId } = await api.createPipeline(name, "");
    await api.saveSpec(pipelineId, { jobs });
    const { runId } = await api.trigger(pipelineId, {});
    return { pipelineId, runId };
  }

  it("has the lines that are stored, each once, after its edge was killed", async () => {
    const isOpen = join(world.folder, "the-log-is-open");
    const say = (from: number, to: number) => `for i in $(seq ${from} ${to}); do echo line $i; sleep 0.05; done`;
    const script = [say(1, FIRST_LINES), untilThere(isOpen), say(FIRST_LINES + 1, LINES)].join("\n");
    const { pipelineId, runId } = await trigger("talk", [
      { name: "talk", steps: [{ uses: "shell", args: { script } }] },
    ]);
    const { stepRunId } = await until("the step runs", async () => {
      const run = await call("GET", `/pipelines/runs/${runId}`);
      const step = run.jobs[0]?.steps[0];
      return step?.status === "running" ? (step as { readonly stepRunId: string }) : undefined;
    });
    await page.goto(`/runs/${runId}/steps/${stepRunId}`);
    await page.locator("[data-line='5']").waitFor();
    await writeFile(isOpen, "");
    edge.kill("SIGKILL");
    await edge.exited;
    await page.locator("[data-connection=reconnecting]").waitFor();
    edge = await serve("edge", { MILLRACE_HTTP_ADDRESS: edge.http! });
    await page.locator(`[data-line='${LINES}']`).getByText(`line ${LINES}`, { exact: true }).waitFor();
    await page.locator("[data-connection=live]").waitFor();

    const { list } = await call("GET", `/pipelines/${pipelineId}/runs/${runId}/steps/${stepRunId}/logs?limit=1000`);
    const stored = list.map(
      (entry: { readonly line_number: number; readonly content: string }) => `${entry.line_number} ${entry.content}`,
    );
    expect(stored).to.have.length(LINES);
    const shown = new Set<string>();
    const region = page.getByRole("region", { name: `${LINES} lines` });
    for (let top = 0; shown.size < LINES && top < 3_000; top += 200) {
      await region.evaluate((element, to) => void (element.scrollTop = to), top);
      await page.waitForTimeout(60);
      for (const text of await page.locator("[data-line]").allInnerTexts()) shown.add(text.replace(/\s+/, " "));
    }
    const inOrder = [...shown].toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
    expect(inOrder).to.deep.equal(stored);
  });

  it("shows no state that goes backwards after its worker was killed, and the end of the run", async () => {
    const isOpen = join(world.folder, "the-run-is-open");
    const steps = ["first", "second"].map((name) => ({
      name,
      uses: "shell",
      args: { script: `${untilThere(isOpen)}; echo begun; sleep 0.7; echo done` },
    }));
    const names = ["one", "two", "three"];
    const { runId } = await trigger(
      "chain",
      names.map((name, at) => ({ name, needs: names.slice(Math.max(0, at - 1), at), steps })),
    );
    await page.addInitScript(STATUS_WATCH);
    await page.goto(`/runs/${runId}?view=table`);
    const status = (name: string, word: string) =>
      page
        .getByRole("row")
        .filter({ has: page.getByRole("link", { name }) })
        .locator(`[data-status=${word}]`);
    await status("one / first", "running").waitFor();
    await writeFile(isOpen, "");
    await status("one / second", "running").waitFor();
    worker.kill("SIGKILL");
    await worker.exited;
    worker = await serve("worker");
    await page.locator("main header [data-status=success]").waitFor();
    await status("three / second", "success").waitFor();
    const shown: Readonly<Record<string, readonly string[]>> = await page.evaluate("globalThis.shown");
    expect(Object.keys(shown)).to.have.members([
      "run",
      ...names.flatMap((name) => [name, `${name} / first`, `${name} / second`]),
    ]);
    for (const [name, statuses] of Object.entries(shown)) {
      const places = statuses.map((word) => ORDER.findIndex((group) => group.includes(word)));
      expect(places, `${name} was ${statuses.join(", ")}`).to.deep.equal(
        [...new Set(places)].toSorted((a, b) => a - b),
      );
      expect(statuses.at(-1), name).to.equal("success");
    }
    expect(shown["three"], "the page was open before the run came so far").to.include("pending");
  });
});
