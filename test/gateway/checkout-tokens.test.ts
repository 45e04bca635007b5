/** The tokens of checkouts, while their host is away. Time is that of the test. */
import { expect } from "chai";
import { type AskedCheckout, NoCheckoutTokenError } from "../../src/app/git/checkout-token.ts";
import { type AgentId, asId, newId, type StepRunId } from "../../src/domain/ids.ts";
import { CheckoutTokens } from "../../src/gateway/checkout-tokens.ts";

const AGENT = asId<AgentId>("agt_1");
const ASKED: AskedCheckout = { repoUrl: "https://github.com/team/app.git", hasSubmodules: false, secret: "APP" };

describe("tokens of checkouts", () => {
  let now: number;
  let questions: number;
  let answer: () => Promise<string>;
  /** What the tokens wait for. */
  let timers: (() => void)[];
  let tokens: CheckoutTokens;
  let step: StepRunId;

  beforeEach(() => {
    now = 0;
    questions = 0;
    timers = [];
    step = newId("step");
    tokens = new CheckoutTokens({
      ask: () => (questions++, answer()),
      clock: { monotonic: () => now },
      timers: { after: (_, run) => (timers.push(run), () => {}) },
    });
  });

  const away = (retryAfterSeconds: number | null = null) =>
    Promise.reject(new NoCheckoutTokenError("the host is away", { mayPass: true, retryAfterSeconds }));
  const outcome = (of = step, asked = ASKED) =>
    tokens.of({ stepRunId: of, agentId: AGENT }, asked).then(
      (token) => token,
      (error: Error) => `${error.constructor.name}: ${error.message}`,
    );
  const WAITS = "MillraceError: the step waits for the token of its checkout: the host is away";

  it("are waited for while the host is away, which is left alone meanwhile", async () => {
    answer = () => away();
    expect(await outcome()).to.equal(WAITS);
    now = 4_999;
    expect(await outcome()).to.equal(WAITS);
    expect(await outcome(newId("step"))).to.equal(WAITS);
    expect(questions).to.equal(1);
    answer = () => Promise.resolve("x:token");
    expect(await outcome(step, { ...ASKED, secret: "ANOTHER" })).to.equal("x:token");
    now = 5_000;
    expect(await outcome()).to.equal("x:token");
    expect(questions).to.equal(3);
  });

  it("are not asked for before the pause that the host wants is over", async () => {
    answer = () => away(60);
    await outcome();
    now = 59_999;
    expect(await outcome()).to.equal(WAITS);
    expect(questions).to.equal(1);
  });

  it("are given up after two minutes, of each step by itself", async () => {
    answer = () => away();
    await outcome();
    now = 119_999;
    expect(await outcome()).to.equal(WAITS);
    now = 120_000;
    expect(await outcome()).to.equal("NoCheckoutTokenError: the host is away (asked for 120 s)");
    expect(await outcome(newId("step"))).to.equal(WAITS);
  });

  it("are said to be waited for, with the reason, while the step is asked for again", async () => {
    answer = () => away();
    await outcome();
    const wait = { stepRunId: step, text: "waits for the token of its checkout: the host is away" };
    expect(tokens.waitsOf(AGENT)).to.deep.equal([wait]);
    expect(tokens.waitsOf(asId<AgentId>("agt_2"))).to.deep.equal([]);
    now = 14_000;
    await outcome();
    now = 28_999;
    expect(tokens.waitsOf(AGENT)).to.deep.equal([wait]);
    now = 29_000;
    expect(tokens.waitsOf(AGENT), "of a step that was cancelled").to.deep.equal([]);
    await outcome();
    answer = () => Promise.resolve("x:token");
    now = 40_000;
    await outcome();
    expect(tokens.waitsOf(AGENT)).to.deep.equal([]);
  });

  it("are refused at once for what does not pass", async () => {
    answer = () => Promise.reject(new NoCheckoutTokenError("the installation is suspended"));
    expect(await outcome()).to.equal("NoCheckoutTokenError: the installation is suspended");
    expect(await outcome()).to.include("suspended");
    expect(questions).to.equal(2);
  });

  it("hold no dispatch up: one that comes late is taken by the next", async () => {
    let resolve: (token: string) => void = () => {};
    const slow = new Promise<string>((done) => (resolve = done));
    answer = () => slow;
    const first = outcome();
    timers[0]!();
    expect(await first)
      .to.include("the step waits")
      .and.to.include("has not answered yet");
    resolve("x:late");
    expect(await outcome()).to.equal("x:late");
  });
});
