/**
 * The contract of the board's vacancies: free slots that wait for jobs. Run over Redis by `redis-board.test.ts`, and over
 * the model of the simulation.
 */
import { expect } from "chai";
import { ATTENDED_MS, type Reservation, type TakenOffer, type Vacancies } from "../../src/board/board.ts";
import { type AgentId, asId } from "../../src/domain/ids.ts";
import { demandTrust, type LabelledAgent } from "../../src/domain/labels.ts";
import { NO_QUOTAS, type Quotas } from "../../src/domain/quotas.ts";
import { type BoardHarness, job, needs, offerOf, project } from "./board.ts";

const LINUX: LabelledAgent = { labels: { os: "linux" } };
const HOLD_MS = 60_000;
const A = asId<AgentId>("agt_a");
const B = asId<AgentId>("agt_b");

export function vacancyContract({ open, later }: BoardHarness): void {
  beforeEach(async () => void (await open().attend("gateway", true)));

  interface Shown extends Partial<Vacancies> {
    readonly agent?: LabelledAgent;
    readonly quotas?: Quotas;
    /** Offers to take; by default one for each vacancy. */
    readonly count?: number;
  }

  /** Shows the vacancies of an agent, and answers the offers that it gets instead. */
  function show(
    agentId: AgentId,
    ids: readonly string[],
    { agent = LINUX, quotas, count = ids.length, ...more }: Shown = {},
  ) {
    const vacancies: Vacancies = {
      agentId,
      bootId: `boot of ${agentId}`,
      attendanceId: "gateway",
      streamId: "stream",
      requestIds: ids,
      seen: [],
      areShown: false,
      ...more,
    };
    return open(quotas).take(agent, HOLD_MS, count, vacancies);
  }

  /** Each search is that of another edge: an edge that has found nothing does not search again at once. */
  const reserve = (offer = offerOf("new"), quotas?: Quotas): Promise<Reservation | undefined> =>
    open(quotas).reserve(offer);
  const reserved = async (offer = offerOf("new"), quotas?: Quotas): Promise<string | undefined> =>
    (await reserve(offer, quotas))?.requestId;
  const claimed = (offers: readonly TakenOffer[]) => offers.map(({ jobId, vacancy }) => [jobId, vacancy]);

  it("reserves each vacancy for one job, in the order in which its agent shows them", async () => {
    expect(await reserve()).to.equal(undefined);
    expect(await show(A, ["a1", "a2"])).to.deep.equal([]);
    expect(await reserve()).to.deep.equal({ agentId: A, bootId: `boot of ${A}`, requestId: "a1", quotas: [] });
    expect([await reserved(), await reserved()]).to.deep.equal(["a2", undefined]);
  });

  it("gives each of many vacancies to one of many jobs that ask at once", async () => {
    await show(A, ["a1", "a2", "a3"]);
    await show(B, ["b1", "b2"]);
    const found = await Promise.all(Array.from({ length: 12 }, (_, n) => reserved(offerOf(`job${n}`))));
    expect(found.filter((id) => id !== undefined)).to.have.members(["a1", "a2", "a3", "b1", "b2"]);
  });

  it("serves agents in turn", async () => {
    await show(A, ["a1", "a2"]);
    await show(B, ["b1", "b2"]);
    const found = [await reserved(), await reserved(), await reserved(), await reserved()];
    expect(found).to.deep.equal(["a1", "b1", "a2", "b2"]);
  });

  it("reserves no vacancy of an agent that the selector does not match, and knows which labels are trusted", async () => {
    await show(A, ["a1"]);
    await show(B, ["b1"], { agent: { labels: { os: "linux", gpu: "yes" }, trusted: ["gpu"] } });
    expect(await reserved(offerOf("mac", { selector: needs("os", "mac") }))).to.equal(undefined);
    expect(await reserved(offerOf("os", { selector: demandTrust(needs("os", "linux")) }))).to.equal(undefined);
    expect(await reserved(offerOf("gpu", { selector: demandTrust(needs("gpu", "yes")) }))).to.equal("b1");
  });

  it("follows an agent whose labels have changed", async () => {
    await show(A, ["a1"]);
    await show(A, ["a1"], { agent: { labels: { os: "mac" } } });
    expect(await reserved(offerOf("linux", { selector: needs("os", "linux") }))).to.equal(undefined);
    expect(await reserved(offerOf("mac", { selector: needs("os", "mac") }))).to.equal("a1");
  });

  it("shows only the slots for which no offer was there", async () => {
    await open().offer(offerOf("waits"));
    expect(claimed(await show(A, ["a1", "a2"]))).to.deep.equal([["waits", "a1"]]);
    expect([await reserved(), await reserved()]).to.deep.equal(["a2", undefined]);
  });

  it("shows more slots than it takes offers for", async () => {
    for (const name of ["waits", "waits too"]) await open().offer(offerOf(name));
    expect(claimed(await show(A, ["a1", "a2", "a3"], { count: 1 }))).to.deep.equal([["waits", "a1"]]);
    await open().withdraw(job("waits too"));
    expect([await reserved(), await reserved(), await reserved()]).to.deep.equal(["a2", "a3", undefined]);
  });

  it("lets no new job go before an offer that waits and that the agent could take, however urgent the job is", async () => {
    await show(A, ["a1"]);
    const waiting = offerOf("waits", { projectId: project("other"), priority: -5 });
    await open().offer(waiting);
    expect(await reserved(offerOf("urgent", { priority: 9 }))).to.equal(undefined);
    await open().withdraw(waiting.jobId);
    expect(await reserved()).to.equal("a1");
  });

  it("reserves a vacancy while offers wait that its agent cannot take", async () => {
    await show(A, ["a1"]);
    await show(B, ["b1"], { agent: { labels: { os: "linux", gpu: "yes" } } });
    for (const os of ["mac", "windows"]) await open().offer(offerOf(os, { selector: needs("os", os) }));
    await open().offer(offerOf("gpu", { selector: needs("gpu", "yes") }));
    expect([await reserved(), await reserved()]).to.deep.equal(["a1", undefined]);
  });

  it("counts a reservation as a turn of its project", async () => {
    await show(A, ["a1"]);
    await reserve(offerOf("big", { projectId: project("big") }));
    await open().offer(offerOf("big2", { projectId: project("big"), queuedAt: 1 }));
    await open().offer(offerOf("small", { projectId: project("small"), queuedAt: 2 }));
    expect(claimed(await show(B, ["b1"]))).to.deep.equal([["small", "b1"]]);
  });

  it("gives a reserved slot to no offer, until its gateway knows of the grant", async () => {
    await show(A, ["a1", "a2"]);
    await reserve();
    await open().offer(offerOf("b"));
    await open().offer(offerOf("c"));
    expect(claimed(await show(A, ["a1", "a2"])), "the gateway has not heard of the grant").to.deep.equal([["b", "a2"]]);
    expect(claimed(await show(A, ["a3"], { seen: ["a1"] })), "a job has ended").to.deep.equal([["c", "a3"]]);
  });

  it("shows no slot that is reserved, and no request id that was", async () => {
    await show(A, ["a1", "a2"]);
    await reserve();
    await show(A, ["a1", "a2"]);
    expect([await reserved(), await reserved()]).to.deep.equal(["a2", undefined]);
    const { ended } = await later("both reservations have ended", async () => {
      const found = await open().attend("gateway");
      return found.ended.length === 2 ? found : undefined;
    });
    expect(ended).to.have.deep.members([
      { agentId: A, requestId: "a1" },
      { agentId: A, requestId: "a2" },
    ]);
    await show(A, ["a1", "a3"]);
    expect([await reserved(), await reserved()]).to.deep.equal(["a3", undefined]);
  });

  it("gives a slot to an offer again when its reservation has ended, under another request id", async () => {
    await show(A, ["a1"]);
    await reserve();
    await open().offer(offerOf("b"));
    expect(await show(A, ["a2"])).to.deep.equal([]);
    const taken = await later("the reservation has ended", async () => {
      expect(await show(A, ["a1"])).to.deep.equal([]);
      const found = claimed(await show(A, ["a2"]));
      return found.length > 0 ? found : undefined;
    });
    expect(taken).to.deep.equal([["b", "a2"]]);
  });

  it("tells a gateway once which of its reservations have ended, without those that it knows", async () => {
    await open().attend("other", true);
    await show(A, ["a1"]);
    await show(B, ["b1"], { attendanceId: "other" });
    expect([await reserved(), await reserved()]).to.have.members(["a1", "b1"]);
    await show(B, ["b2"], { attendanceId: "other", seen: ["b1"] });
    const ended = await later("the reservation has ended", async () => {
      const ofOther = (await open().attend("other")).ended;
      const found = (await open().attend("gateway")).ended;
      return found.length > 0 ? [found, ofOther] : undefined;
    });
    expect(ended).to.deep.equal([[{ agentId: A, requestId: "a1" }], []]);
    expect((await open().attend("gateway")).ended).to.deep.equal([]);
  });

  it("hides the vacancies of the stream that shows them, and of no other stream", async () => {
    await show(A, ["a1"], { streamId: "old" });
    await show(A, ["a2"], { streamId: "new" });
    await open().hide(A, "old");
    expect(await reserved()).to.equal("a2");
    await show(A, ["a3"], { streamId: "new" });
    await open().hide(A, "new");
    await open().hide(A, "new");
    await open().hide(B, "new");
    expect(await reserved()).to.equal(undefined);
  });

  it("reserves nothing of a gateway that has not attended its vacancies for a time", async () => {
    await show(A, ["a1"]);
    await show(B, ["b1"], { attendanceId: "unattended" });
    expect([await reserved(), await reserved()]).to.deep.equal(["a1", undefined]);
    await show(A, ["a2"], { seen: ["a1"] });
    // The offer is held for longer than the gateway's last attendance counts.
    await open().offer(offerOf("held"));
    await open().take({ labels: { os: "mac" } }, ATTENDED_MS + 200, 1);
    await later("the time is over", () =>
      open()
        .take({ labels: { os: "mac" } }, 1, 1)
        .then(([offer]) => offer),
    );
    await open().withdraw(job("held"));
    expect(await reserved()).to.equal(undefined);
    expect((await open().attend("gateway")).lasts).to.equal(false);
    expect(await reserved(), "the vacancies of that time count no more").to.equal(undefined);
    await open().attend("next", true);
    await show(A, ["a2"], { attendanceId: "next" });
    expect(await reserved()).to.equal("a2");
  });

  it("says whether vacancies have counted without a break, and how many offers there are", async () => {
    await open().offer(offerOf("a"));
    expect(await open().attend("new")).to.deep.equal({ lasts: false, offers: 1, ended: [] });
    expect(await open().attend("new", true)).to.deep.equal({ lasts: true, offers: 1, ended: [] });
    expect(await open().attend("new")).to.deep.equal({ lasts: true, offers: 1, ended: [] });
  });

  describe("within quotas", () => {
    const ofDefault = "project:default";
    const within = (quotas: Partial<Quotas>): Quotas => ({ ...NO_QUOTAS, ...quotas });

    it("takes a place of the project for a reservation, which the job keeps when it is granted", async () => {
      const quotas = within({ everyProject: 1 });
      await show(A, ["a1", "a2"], { quotas });
      expect((await reserve(offerOf("first"), quotas))!.quotas).to.deep.equal([ofDefault]);
      expect(await reserved(offerOf("second"), quotas)).to.equal(undefined);
      expect(await reserved(offerOf("other", { projectId: project("other") }), quotas)).to.equal("a2");
      await open(quotas).occupy([{ jobId: job("first"), quotas: [ofDefault] }]);
      await open(quotas).vacate({ jobId: job("first"), quotas: [ofDefault] });
      await show(B, ["b1"], { quotas });
      expect(await reserved(offerOf("second"), quotas)).to.equal("b1");
    });

    it("reserves no more slots of agents with a label than their quota, and then those of others", async () => {
      const quotas = within({ labels: [{ key: "pool", value: "gpu", limit: 1 }] });
      await show(A, ["a1", "a2"], { quotas, agent: { labels: { pool: "gpu" } } });
      await show(B, ["b1"], { quotas });
      const found = [await reserved(undefined, quotas), await reserved(offerOf("n2"), quotas)];
      expect(found).to.have.members(["a1", "b1"]);
      expect(await reserved(offerOf("n3"), quotas)).to.equal(undefined);
    });
  });
}
