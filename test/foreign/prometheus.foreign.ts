/**
 * A real Prometheus scrapes a real node under load, and is asked each query of the dashboard and of the alerts. Needs
 * Prometheus on PATH, so it is not part of `npm test`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { ApiClient } from "../../src/cli/api-client.ts";
import { freePort } from "../support/ports.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

const OPS = fileURLToPath(new URL("../../ops", import.meta.url));
const ADMIN = `mrt_${randomUUID()}${randomUUID()}`;
const REGISTRATION = `mrr_${randomUUID()}${randomUUID()}`;
const SCRAPES = 4;
/** Nothing of this happens in the runs of this test. */
const MAY_BE_EMPTY = ["Deliveries of webhooks a second"];

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

interface Rule {
  readonly name: string;
  readonly health: string;
  readonly state: string;
}

describe("Prometheus", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let prometheus: ChildProcess;
  let base: string;

  before(async () => {
    world = await ProcessWorld.create();
    const env = { MILLRACE_BOOTSTRAP_TOKEN: ADMIN, MILLRACE_REGISTRATION_TOKEN: REGISTRATION };
    const node = await world.serve("edge,gateway,worker", { env });
    const agent = world.agent(node.grpc!, { env: { MILLRACE_REGISTRATION_TOKEN: REGISTRATION, LOG_LEVEL: "info" } });
    await agent.prints('"msg":"ready"');
    const example = await readFile(join(OPS, "prometheus.yaml"), "utf8");
    const file = join(world.folder, "prometheus.yaml");
    await writeFile(
      file,
      example
        .replaceAll("15s", "1s")
        .replace("- alerts.yaml", `- ${join(OPS, "alerts.yaml")}`)
        .replace("127.0.0.1:9464", node.metrics!),
    );
    base = `http://127.0.0.1:${await freePort()}`;
    prometheus = spawn(
      "prometheus",
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(world.folder, "tsdb")}`,
        `--web.listen-address=${base.slice("http://".length)}`,
      ],
      { stdio: "ignore" },
    );
    const api = new ApiClient({ baseUrl: `http://${node.http}`, token: () => Promise.resolve(ADMIN) });
    const steps = [{ name: "say", uses: "shell", args: { script: "echo one; echo two >&2; sleep 0.2" } }];
    const ends = [{ name: "build", steps }];
    const waits = [{ name: "waits", agentSelector: { matchLabels: { gpu: "none" } }, steps }];
    const pipelines: string[] = [];
    for (const [name, jobs] of Object.entries({ ends, waits })) {
      const { pipelineId } = await api.createPipeline(name, "");
      await api.saveSpec(pipelineId, { jobs });
      pipelines.push(pipelineId);
    }
    // A rate needs a scrape before and one after what is counted, and the first value of a series counts as none.
    for (let round = 1; round <= 3; round++) {
      for (const pipelineId of pipelines) await api.trigger(pipelineId, {});
      await until(
        "Prometheus has scraped",
        async () => ((await ask("count_over_time(up[1m])"))[0]?.value ?? 0) >= SCRAPES * round,
        60_000,
      );
    }
  });
  after(async () => {
    prometheus?.kill("SIGKILL");
    await world?.end();
  });

  async function ask(query: string): Promise<readonly { readonly value: number }[]> {
    const answer = await fetch(`${base}/api/v1/query?${new URLSearchParams({ query }).toString()}`).catch(
      () => undefined,
    );
    if (answer === undefined) return [];
    const body = (await answer.json()) as {
      readonly status: string;
      readonly error?: string;
      readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
    };
    if (body.status !== "success") throw new Error(`${query}: ${body.error}`);
    return body.data.result.map(({ value: [, value] }) => ({ value: Number(value) }));
  }

  it("understands every query of the dashboard, and most of them have data after a few runs", async () => {
    const { panels } = JSON.parse(await readFile(join(OPS, "dashboard.json"), "utf8")) as Dashboard;
    const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
    const [empty, shown]: [string[], Set<string>] = [[], new Set()];
    for (const { title, expr } of queries) {
      const found = await ask(expr.replaceAll("$__rate_interval", "30s"));
      if (found.length === 0) empty.push(title);
      else shown.add(title);
    }
    console.log(`${queries.length} queries; without data: ${empty.join(", ") || "none"}`);
    expect(queries.length).to.be.greaterThan(30);
    // What has not happened has no series: refusals, failures, retries and the like.
    expect(empty.length).to.be.lessThan(queries.length / 4);
    expect([...new Set(empty)].filter((title) => !shown.has(title))).to.deep.equal(MAY_BE_EMPTY);
  });

  it("evaluates every rule, and no alert fires in a healthy installation", async () => {
    const answer = await fetch(`${base}/api/v1/rules`);
    const { data } = (await answer.json()) as {
      readonly data: { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
    };
    const rules = data.groups.flatMap((group) => group.rules);
    expect(rules.length).to.be.greaterThan(10);
    expect(rules.filter(({ health }) => health !== "ok")).to.deep.equal([]);
    expect(rules.filter(({ state }) => state === "firing").map(({ name }) => name)).to.deep.equal([]);
  });
});
