/** Deliveries of a hook while the node that takes and processes them is killed, again and again. */
import { expect } from "chai";
import { join } from "node:path";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

const KILLS = 2;
const OF_BURST = 20;

describe("deliveries of hooks through kill -9", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  before(async () => {
    world = await ProcessWorld.create();
  });
  after(() => world.end());

  it("start exactly one run each: none is lost that was answered, and a repeat doubles none", async () => {
    const installation = await EmbeddedInstallation.create(world);
    const data = join(world.folder, "data");
    await installation.serve(data);
    const call = async (method: string, path: string, body?: unknown) => {
      const answer = await installation.call(method, path, body);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      return answer.body.detail;
    };
    await call("POST", "/projects/default/secrets", { name: "HOOK_KEY", value: "a long random text" });
    const { pipelineId } = await call("POST", "/pipelines", { name: "p" });
    const spec = {
      triggers: { event: [{ provider: "generic", event: "push" }] },
      jobs: [{ name: "j", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }],
    };
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec });
    const given = { name: "code", kind: "generic", proof: "token", secret: "HOOK_KEY" };
    const hook = await call("POST", "/projects/default/hooks", given);

    /** As a sender does: false when it gets no answer. */
    const isTaken = async (id: number): Promise<boolean> => {
      const sha = `${id}`.padStart(40, "a");
      const answer = await fetch(`http://${installation.node.http}${hook.path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: "Bearer a long random text",
          "idempotency-key": `d-${id}`,
        },
        body: JSON.stringify({ event: "push", ref: "refs/heads/main", sha }),
      }).catch(() => undefined);
      return answer?.status === 200;
    };
    const unanswered = new Set(Array.from({ length: (KILLS + 1) * OF_BURST }, (_, id) => id));
    const send = async (ids: readonly number[]) => {
      await Promise.all(ids.map(async (id) => (await isTaken(id)) && unanswered.delete(id)));
    };
    for (let kills = 0; kills < KILLS; kills++) {
      const sending = send([...unanswered].slice(0, OF_BURST));
      // In the middle: some of them are answered, and some have runs.
      await until("an answer", () => unanswered.size < (KILLS + 1 - kills) * OF_BURST);
      if (kills > 0) await until("a run", async () => (await call("GET", `/pipelines/${pipelineId}/runs`)).total > 0);
      installation.node.kill("SIGKILL");
      await installation.node.exited;
      await sending;
      await installation.serve(data);
    }
    while (unanswered.size > 0) await send([...unanswered]);
    // What was answered before a kill is told again, too: GitHub keeps the id of a redelivery.
    for (const id of [0, OF_BURST]) expect(await isTaken(id)).to.equal(true);
    const deliveries = `/projects/default/hooks/${hook.hookId}/deliveries`;
    await until("no delivery is owed", async () => (await call("GET", `${deliveries}?state=owed`)).list.length === 0);
    const { list, total } = await call("GET", `/pipelines/${pipelineId}/runs?pageSize=100`);
    const shas = list.map(({ trigger }: { trigger: { event: { sha: string } } }) => trigger.event.sha);
    expect(total).to.equal((KILLS + 1) * OF_BURST);
    expect(new Set(shas).size).to.equal(total);
  });
});
