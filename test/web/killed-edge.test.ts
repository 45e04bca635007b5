/** A log in a browser while the edge that serves it is killed. The gateway and the worker go on. */
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { ApiClient } from "../../src/cli/api-client.ts";
import { startBrowser } from "../support/browser-program.ts";
import { ProcessWorld } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const ADMIN = "an-administrator-token-for-this-test-only";
const REGISTRATION = "a-registration-token-for-this-test-only";
const PASSWORD = "correct horse battery";
const LINES = 80;
const SCRIPT = `for i in $(seq 1 ${LINES}); do echo line $i; sleep 0.05; done`;

describe("a log whose edge is killed", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  let redis: TestRedis;
  let browser: Browser;

  before(async () => {
    world = await ProcessWorld.create();
    redis = await startTestRedis();
    browser = await startBrowser();
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

  it("has on the page the lines that are stored, each once", async () => {
    const edge = await serve("edge");
    const gateway = await serve("gateway,worker");
    const agent = world.agent(gateway.grpc!, {
      env: { MILLRACE_REGISTRATION_TOKEN: REGISTRATION, MILLRACE_AGENT_NAME: "one", LOG_LEVEL: "info" },
    });
    await agent.prints("welcomes this agent");
    const address = edge.http!;
    const call = async (method: string, path: string, body?: object) => {
      const answer = await fetch(`http://${address}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
        body: body === undefined ? null : JSON.stringify(body),
      });
      // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
      return ((await answer.json()) as any).detail;
    };
    await call("POST", "/users", { name: "olga", role: "operator", password: PASSWORD });
    const api = new ApiClient({ baseUrl: `http://${address}`, token: () => Promise.resolve(ADMIN) });
    const { pipelineId } = await api.createPipeline("talk", "");
    await api.saveSpec(pipelineId, { jobs: [{ name: "talk", steps: [{ uses: "shell", args: { script: SCRIPT } }] }] });

    const page = await (await browser.newContext({ baseURL: `http://${address}` })).newPage();
    page.setDefaultTimeout(30_000);
    await page.goto("/login?next=/runs");
    await page.fill("[name=name]", "olga");
    await page.fill("[name=password]", PASSWORD);
    await page.keyboard.press("Enter");
    // The address of the login names that page too, so the path alone is compared.
    await page.waitForURL(({ pathname }) => pathname === "/runs");
    const { runId } = await api.trigger(pipelineId, {});
    const { stepRunId } = await until("the step runs", async () => {
      const run = await call("GET", `/pipelines/runs/${runId}`);
      const step = run.jobs[0]?.steps[0];
      return step?.status === "running" ? (step as { readonly stepRunId: string }) : undefined;
    });
    await page.goto(`/runs/${runId}/steps/${stepRunId}`);
    await page.locator("[data-line='5']").waitFor();
    edge.kill("SIGKILL");
    await edge.exited;
    await page.locator("[data-connection=reconnecting]").waitFor();
    await serve("edge", { MILLRACE_HTTP_ADDRESS: address });
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
});
