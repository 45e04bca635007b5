import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { until } from "../support/until.ts";
import { Channel, Gateway } from "./gateway.ts";

/** Of 1 agent a second, one goes at once, and five wait up to 5 s. */
const WITH_A_TURN = 6;
const MORE = 3;

describe("many agents that connect at once", () => {
  let gateway: Gateway;
  before(async () => (gateway = await Gateway.start({ agentsPerSecond: 1 })));
  afterEach(() => gateway.hangUp());
  after(() => gateway.stop());

  it("wait for their turn, or are told when to come back; one with a step goes first", async () => {
    const agents = await Promise.all(
      Array.from({ length: WITH_A_TURN + MORE + 1 }, (_, at) => gateway.register(`agent-${at}`)),
    );
    const channels = agents.slice(0, -1).map((agent) => new Channel(gateway, agent));
    for (const channel of channels) channel.hello();
    const refused = () => channels.filter((channel) => channel.status !== undefined);
    await until("those whose turn is far off are sent away", () => refused().length === MORE);
    for (const channel of refused()) {
      const { code, metadata } = channel.status!;
      expect(code).to.equal(status.UNAVAILABLE);
      expect(metadata.get("reason")).to.deep.equal(["unavailable"]);
      expect(Number(metadata.get("grpc-retry-pushback-ms")[0])).to.be.within(4_000, 10_000);
    }
    const busy = new Channel(gateway, agents.at(-1)!);
    busy.hello({ held: [{ runId: "run_1", jobId: "job_1", stepRunId: "step_1", token: 1n }] });
    await busy.next("welcome");
    const welcomed = channels.filter((channel) => channel.all("welcome").length > 0);
    expect(welcomed.length, "nearly all others still wait").to.be.within(1, 3);
  });
});
