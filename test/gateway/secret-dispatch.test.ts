/** The dispatch of a step that reads secrets, built from a real store. */
import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { type AskedCheckout, NoCheckoutTokenError } from "../../src/app/git/checkout-token.ts";
import { DispatchBuilder } from "../../src/gateway/dispatch-builder.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { MillraceError } from "../../src/domain/errors.ts";
import { asId, newId, type PipelineId, type ProjectId } from "../../src/domain/ids.ts";
import { fixedKeys, masterKey } from "../../src/secrets/master-keys.ts";
import { SecretVault } from "../../src/secrets/vault.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { OF_FORK, StoredRun } from "../grpc/stored-run.ts";
import { LOG_LIMIT } from "../support/log-limit.ts";
import { openTestSqlite } from "../support/stores.ts";

const OF_PROJECT = { projectId: asId<ProjectId>("default"), pipelineId: null };
const OF_PIPELINE = { ...OF_PROJECT, pipelineId: asId<PipelineId>("pl_TEST") };

describe("the dispatch of a step with secrets", () => {
  let opened: Awaited<ReturnType<typeof openTestSqlite>>;
  let stores: Stores;
  let run: StoredRun;
  let refused: string[];
  const key = masterKey(randomBytes(32));
  const vaultWith = (...keys: readonly [typeof key]) =>
    new SecretVault({ store: stores.secrets, keys: fixedKeys(keys), clock: systemClock });

  beforeEach(async () => {
    opened = await openTestSqlite();
    ({ stores } = opened);
    refused = [];
    run = await StoredRun.create(stores, [{}], {
      env: [["A", "${{ secrets.ONE }}"]],
      late: ["A"],
      steps: [
        {
          name: "s",
          uses: "shell",
          action: "",
          args: { script: "echo ${{ format('<{0}>', secrets.TWO) }}" },
          env: [["B", "${{ env.A }}!"]],
          workingDirectory: "",
          late: ["/env/B", "/args/script"],
          secrets: ["ONE", "TWO"],
          artifacts: [],
          plugin: null,
        },
      ],
    });
    await run.grant({ agentId: newId("agt"), bootId: "b", token: 1, requestId: "r" });
  });
  afterEach(() => opened.close());

  const build = (secrets = vaultWith(key), of = run, checkoutToken?: (asked: AskedCheckout) => Promise<string>) =>
    new DispatchBuilder({
      stores,
      secrets,
      logLimits: { of: () => Promise.resolve(LOG_LIMIT) },
      handout: { refusal: () => Promise.resolve(undefined) },
      ...(checkoutToken && { checkoutToken: (_, asked) => checkoutToken(asked) }),
      onRefused: (_, reason) => Promise.resolve(void refused.push(reason)),
    }).build(of.grantedStep());

  it("has the values of its secrets in its texts, and in a list for the masking of its log", async () => {
    await vaultWith(key).create({ ...OF_PROJECT, name: "ONE" }, "the first", "ann");
    await vaultWith(key).create({ ...OF_PROJECT, name: "TWO" }, "shadowed", "ann");
    await vaultWith(key).create({ ...OF_PIPELINE, name: "TWO" }, "$(second)", "ann");
    await vaultWith(key).create({ ...OF_PIPELINE, name: "THREE" }, "not asked for", "ann");
    const dispatch = await build();
    expect(dispatch!.env.slice(0, 2)).to.deep.equal([
      ["A", "the first"],
      ["B", "the first!"],
    ]);
    expect(JSON.parse(dispatch!.argsJson)).to.deep.equal({ script: "echo <$(second)>" });
    expect(dispatch!.secrets).to.have.members(["the first", "$(second)"]);
    expect(refused).to.deep.equal([]);
  });

  it("has the trace context of the step behind the variables of the definition, unless they set one", async () => {
    await vaultWith(key).create({ ...OF_PROJECT, name: "ONE" }, "the first", "ann");
    await vaultWith(key).create({ ...OF_PIPELINE, name: "TWO" }, "$(second)", "ann");
    expect((await build())!.env[2]![0]).to.equal("TRACEPARENT");
    const own = await StoredRun.create(stores, [{}], { env: [["TRACEPARENT", "mine"]] });
    await own.grant({ agentId: newId("agt"), bootId: "b", token: 1, requestId: "r" });
    const { env } = (await build(vaultWith(key), own))!;
    expect(env.filter(([name]) => name === "TRACEPARENT")).to.deep.equal([["TRACEPARENT", "mine"]]);
  });

  it("has a token in place of the key of a GitHub App, when it is a checkout", async () => {
    const app = JSON.stringify({ appId: 1, installationId: 2, privateKey: "-----BEGIN RSA PRIVATE KEY-----" });
    await vaultWith(key).create({ ...OF_PROJECT, name: "APP" }, app, "ann");
    const [step] = (await stores.plans.loadJob(run.runId, 0))!.steps;
    const args = { repo: "https://github.com/team/app.git", credential: "${{ secrets.APP }}" };
    const bare = { ...step!, env: [], late: ["/args/credential"], secrets: ["APP"] };
    const grant = async (fields: object) => {
      const made = await StoredRun.create(stores, [{}], { steps: [{ ...bare, ...fields }] });
      await made.grant({ agentId: newId("agt"), bootId: "b", token: 1, requestId: "r" });
      return made;
    };
    const checkout = await grant({ uses: "checkout", args });
    const asked: AskedCheckout[] = [];
    const dispatch = (await build(vaultWith(key), checkout, async (one) => {
      asked.push(one);
      return "x-access-token:ghs_short";
    }))!;
    expect(asked).to.deep.equal([{ repoUrl: args.repo, hasSubmodules: false, secret: app }]);
    expect(JSON.parse(dispatch.argsJson)).to.deep.equal({ ...args, credential: "x-access-token:ghs_short" });
    expect(dispatch.secrets).to.deep.equal(["ghs_short"]);
    expect(JSON.stringify(dispatch)).to.not.include("BEGIN");
    const failing = () => Promise.reject(new NoCheckoutTokenError("the installation is suspended"));
    expect(await build(vaultWith(key), checkout, failing)).to.equal(undefined);
    expect(refused).to.deep.equal(["the installation is suspended"]);
    const away = () => Promise.reject(new MillraceError("unavailable", "the step waits"));
    expect(await build(vaultWith(key), checkout, away).catch((error: Error) => error.message)).to.equal(
      "the step waits",
    );
    expect(refused, "it is built later").to.have.length(1);
    const submodules = await grant({ uses: "checkout", args: { ...args, submodules: "recursive" } });
    await build(vaultWith(key), submodules, async (one) => `x:${asked.push(one)}`);
    expect(asked.at(-1)!.hasSubmodules).to.equal(true);
  });

  it("is refused in a run of a fork, although its secrets are there", async () => {
    const late = { env: [["A", "${{ secrets.ONE }}"]] as const, late: ["A"] };
    await vaultWith(key).create({ ...OF_PROJECT, name: "ONE" }, "the first", "ann");
    const [step] = (await stores.plans.loadJob(run.runId, 0))!.steps;
    const steps = [{ ...step!, args: {}, env: [], late: [], secrets: ["ONE"] }];
    const [own, fork] = [
      await StoredRun.create(stores, [{}], { ...late, steps }),
      await StoredRun.create(stores, [{}], { ...late, steps }, OF_FORK),
    ];
    for (const one of [own, fork]) await one.grant({ agentId: newId("agt"), bootId: "b", token: 1, requestId: "r" });
    expect((await build(vaultWith(key), own))!.secrets).to.deep.equal(["the first"]);
    expect(await build(vaultWith(key), fork)).to.equal(undefined);
    expect(refused).to.have.length(1);
    expect(refused[0]).to.include("started from a fork, so it gets no secrets");
  });

  it("is refused when its job may not run, in the words of its plan", async () => {
    const own = await StoredRun.create(stores, [{}], { refusal: "the target live is protected" });
    await own.grant({ agentId: newId("agt"), bootId: "b", token: 1, requestId: "r" });
    expect(await build(vaultWith(key), own)).to.equal(undefined);
    expect(refused).to.deep.equal(["the target live is protected"]);
  });

  it("is refused while secrets are missing, and the refusal names each of them", async () => {
    expect(await build()).to.equal(undefined);
    await vaultWith(key).create({ ...OF_PROJECT, name: "ONE" }, "the first", "ann");
    expect(await build()).to.equal(undefined);
    expect(refused).to.deep.equal([
      "the secrets ONE, TWO are not set for this pipeline or its project",
      "the secret TWO is not set for this pipeline or its project",
    ]);
  });

  it("is refused when a secret is sealed with a key that this node lacks, which the refusal names", async () => {
    const lost = masterKey(randomBytes(32));
    for (const name of ["ONE", "TWO"]) await vaultWith(lost).create({ ...OF_PROJECT, name }, "a value", "ann");
    expect(await build()).to.equal(undefined);
    expect(refused[0]).to.include(`sealed with the master key ${lost.id}, which was not found`);
  });

  it("is refused when it is larger than an agent accepts", async () => {
    await vaultWith(key).create({ ...OF_PROJECT, name: "BIG" }, "x".repeat(65_536), "ann");
    const env = Array.from({ length: 300 }, (_, n): [string, string] => [`V${n}`, "${{ secrets.BIG }}"]);
    const late = env.map(([name]) => `/env/${name}`);
    const steps = [
      {
        name: "s",
        uses: "shell",
        action: "",
        args: {},
        workingDirectory: "",
        env,
        late,
        secrets: ["BIG"],
        artifacts: [],
        plugin: null,
      },
    ];
    run = await StoredRun.create(stores, [{}], { steps });
    await run.grant({ agentId: newId("agt"), bootId: "b", token: 1, requestId: "r" });
    expect(await build()).to.equal(undefined);
    expect(refused).to.deep.equal(["the texts of this step have more than 15728640 bytes in all"]);
  });

  it("is not refused when the store cannot be read, so that it can be built later", async () => {
    await stores.close();
    const error = await build().catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(Error);
    expect(refused).to.deep.equal([]);
  });
});
