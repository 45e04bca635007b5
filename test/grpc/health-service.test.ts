import { credentials, type ServiceError, status } from "@grpc/grpc-js";
import { expect } from "chai";
import { HealthClient, type HealthCheckResponse } from "../../proto/generated/grpc/health/v1/health.ts";
import { readinessReader } from "../../src/app/readiness.ts";
import { until } from "../support/until.ts";
import { Gateway, reasonOf } from "./gateway.ts";

describe("the health service", () => {
  let gateway: Gateway;
  let client: HealthClient;
  let failed: string[];
  before(async () => {
    gateway = await Gateway.start({ readiness: () => Promise.resolve({ checked: ["redis"], failed }) });
    client = new HealthClient(`127.0.0.1:${gateway.port}`, credentials.createInsecure());
  });
  beforeEach(() => {
    failed = [];
  });
  after(async () => {
    client.close();
    await gateway.stop();
  });

  function check(service: string): Promise<string> {
    return new Promise((resolve, reject) => {
      client.check({ service }, (error, answer) => (error === null ? resolve(answer.status) : reject(error)));
    });
  }

  function watch(service: string) {
    const call = client.watch({ service });
    const watched = { received: [] as string[], code: undefined as number | undefined, cancel: () => call.cancel() };
    call.on("data", (answer: HealthCheckResponse) => watched.received.push(answer.status));
    call.on("error", (error: ServiceError) => (watched.code = error.code));
    return watched;
  }

  it("answers for the gateway and for each service, without a token", async () => {
    for (const service of ["", "agent.v1.Agent", "gateway.v1.Gateway", "pipeline.v1.Pipeline", "stream.v1.Stream"]) {
      expect(await check(service), service).to.equal("SERVING");
    }
    failed = ["redis"];
    expect(await check("")).to.equal("NOT_SERVING");
    expect(await check("steprun.v1.StepRun")).to.equal("NOT_SERVING");
  });

  it("refuses an unknown service, and names the known ones", async () => {
    const error = await check("agent.v1").then(
      () => undefined,
      (refused: ServiceError) => refused,
    );
    expect([error?.code, error && reasonOf(error)]).to.deep.equal([status.NOT_FOUND, "not_found"]);
    expect(error?.details).to.include("agent.v1.Agent");
  });

  it("sends watchers the status and each change of it", async () => {
    const [whole, other] = [watch(""), watch("unknown.v1.Unknown")];
    await until("the first status", () => whole.received.length === 1 && other.received.length === 1);
    failed = ["store"];
    await until("the change", () => whole.received.length === 2);
    failed = [];
    await until("the other change", () => whole.received.length === 3);
    expect(whole.received).to.deep.equal(["SERVING", "NOT_SERVING", "SERVING"]);
    expect(other.received).to.deep.equal(["SERVICE_UNKNOWN"]);
    expect(other.code, "the stream goes on").to.equal(undefined);
    for (const { cancel } of [whole, other]) cancel();
  });

  it("refuses watchers beyond the bound, until another watcher ends", async () => {
    const watchers = Array.from({ length: 200 }, () => watch(""));
    await until("all are served", () => watchers.every(({ received }) => received.length === 1));
    const beyond = watch("");
    await until("the refusal", () => beyond.code === status.RESOURCE_EXHAUSTED);
    for (const { cancel } of watchers) cancel();
    await until("there is room again", async () => {
      const next = watch("");
      await until("an answer", () => next.received.length > 0 || next.code !== undefined);
      next.cancel();
      return next.received.length > 0;
    });
  });

  it("answers NOT_SERVING when the gateway stops, and ends the streams of watchers", async () => {
    const leaving = await Gateway.start();
    const watcher = new HealthClient(`127.0.0.1:${leaving.port}`, credentials.createInsecure());
    const received: string[] = [];
    const call = watcher.watch({ service: "" });
    call.on("data", (answer: HealthCheckResponse) => received.push(answer.status));
    const ended = new Promise<ServiceError>((resolve) => call.on("error", resolve));
    await until("it is served", () => received.length === 1);
    const startedAt = performance.now();
    await leaving.stop();
    expect(performance.now() - startedAt, "of at most a second's grace").to.be.below(900);
    expect((await ended).code).to.equal(status.UNAVAILABLE);
    expect(received).to.deep.equal(["SERVING", "NOT_SERVING"]);
    watcher.close();
  });

  it("checks the store and other needs once for all concurrent callers", async () => {
    const asked: string[] = [];
    let storeFails = false;
    const ping = async () => {
      asked.push("store");
      if (storeFails) throw new Error("the store is gone");
    };
    const stores = { ...gateway.stores, ping };
    const redis = async () => void asked.push("redis");
    const read = readinessReader({ ...gateway.context, stores }, { redis });
    expect(await Promise.all([read(), read(), read()])).to.deep.equal(
      Array.from({ length: 3 }, () => ({ checked: ["redis", "store"], failed: [] })),
    );
    expect(asked.sort()).to.deep.equal(["redis", "store"]);
    storeFails = true;
    expect((await read()).failed).to.deep.equal(["store"]);
    storeFails = false;
    expect((await read()).failed).to.deep.equal([]);
  });
});
