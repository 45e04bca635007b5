/** KEDA's external scaler, called as KEDA calls it: without any metadata of the call. */
import { credentials, Metadata, status } from "@grpc/grpc-js";
import { expect } from "chai";
import { ExternalScalerClient, type IsActiveResponse } from "../../proto/generated/externalscaler/externalscaler.ts";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { asId, type UserId } from "../../src/domain/ids.ts";
import type { AgentSelector } from "../../src/domain/labels.ts";
import { until } from "../support/until.ts";
import { bearer, Channel, Gateway } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

const LINUX: AgentSelector = { matchLabels: [["os", "linux"]], matchExpressions: [] };
const METRIC = "millrace-jobs";

describe("the external scaler of KEDA", () => {
  let gateway: Gateway;
  let client: ExternalScalerClient;
  let tokenFromEnv: string;
  before(async () => {
    gateway = await Gateway.start();
    client = new ExternalScalerClient(`127.0.0.1:${gateway.port}`, credentials.createInsecure());
    const userId = asId<UserId>("usr_keda");
    const keda = { userId, name: "keda", role: "viewer", passwordHash: "", createdAt: 1, disabled: false } as const;
    await gateway.stores.identity.createUser(keda);
    tokenFromEnv = await issueToken(gateway.context, { kind: "personal", subject: userId, name: "test" });
  });
  after(async () => {
    client.close();
    await gateway.hangUp();
    await gateway.stop();
  });

  const ref = (trigger: Record<string, string> = {}) => {
    // KEDA sends what is for itself alone, too.
    const scalerMetadata = { scalerAddress: "gateway:9090", tokenFromEnv, labels: "os=linux", ...trigger };
    return { name: "agents", namespace: "ci", scalerMetadata };
  };
  type Answer<T> = (error: { code: number; details: string } | null, answer: T) => void;
  const ask = <T>(call: (answer: Answer<T>) => unknown): Promise<T> =>
    new Promise((resolve, reject) => void call((error, answer) => (error === null ? resolve(answer) : reject(error))));
  const refusal = <T>(call: (answer: Answer<T>) => unknown) =>
    ask(call).then(
      () => expect.fail("it was answered"),
      (error: { code: number; details: string }) => error,
    );
  const isActive = async (trigger?: Record<string, string>) =>
    (await ask<IsActiveResponse>((answer) => client.isActive(ref(trigger), answer))).result;
  const jobs = async (trigger?: Record<string, string>): Promise<number> => {
    const request = { scaledObjectRef: ref(trigger), metricName: METRIC };
    const { metricValues } = await ask<any>((answer) => client.getMetrics(request, answer));
    const [{ metricName, metricValue, metricValueFloat }] = metricValues;
    expect([metricName, Number(metricValue)]).to.deep.equal([METRIC, metricValueFloat]);
    return metricValueFloat;
  };

  it("counts the jobs that agents with these labels would get, and tells changes to a stream", async () => {
    const told: boolean[] = [];
    const stream = client.streamIsActive(ref());
    stream.on("data", ({ result }: IsActiveResponse) => void told.push(result));
    stream.on("error", () => {});
    await until("the first answer", () => told.length === 1);
    expect([await isActive(), await jobs()]).to.deep.equal([false, 0]);
    const run = await StoredRun.create(gateway.stores, [{}, {}, {}]);
    for (const job of [0, 1]) await gateway.context.board.offer(run.offer(job, { selector: LINUX }));
    await gateway.context.board.offer(run.offer(2, { selector: { ...LINUX, matchLabels: [["os", "mac"]] } }));
    await until("both jobs are counted", async () => (await jobs()) === 2);
    expect([await isActive(), await jobs({ labels: "os=mac" }), await jobs({ labels: "" })]).to.deep.equal([
      true,
      1,
      0,
    ]);
    await until("the stream tells it", () => told.length === 2);
    expect(told).to.deep.equal([false, true]);
    stream.cancel();
    const agent = await gateway.register("busy", 2, { os: "mac" });
    const holdings = { heldJobIds: [run.jobId(2)] };
    const channel = await Channel.open(gateway, agent, { labels: { os: "linux" }, takesNoJobs: "test", ...holdings });
    await channel.beat({ takesNoJobs: "test", ...holdings });
    expect([await jobs(), await jobs({ jobs: "all" })]).to.deep.equal([2, 3]);
    const { metricSpecs } = await ask<any>((answer) => client.getMetricSpec(ref({ jobsPerAgent: "4" }), answer));
    expect(metricSpecs).to.deep.equal([{ metricName: METRIC, targetSize: 4n, targetSizeFloat: 4 }]);
  });

  it("says what is wrong with a trigger, and takes no call without a token that may read runs", async () => {
    const wrong = await refusal((answer) => client.isActive(ref({ labels: "linux", jobs: "some" }), answer));
    expect(wrong.code).to.equal(status.INVALID_ARGUMENT);
    expect(wrong.details).to.include("/scalerMetadata/jobs");
    const none = { name: "agents", namespace: "ci", scalerMetadata: { tokenFromEnv } };
    const missing = await refusal((answer) => client.isActive(none, answer));
    expect(missing.details).to.include("/scalerMetadata/labels").and.include("pool=linux");
    const request = { scaledObjectRef: ref(), metricName: "other" };
    expect((await refusal((answer) => client.getMetrics(request, answer))).code).to.equal(status.NOT_FOUND);
    for (const token of ["", "none"]) {
      const refused = await refusal((answer) => client.isActive(ref({ tokenFromEnv: token }), answer));
      expect(refused.code).to.equal(status.UNAUTHENTICATED);
      expect(refused.details).not.to.include(tokenFromEnv);
    }
    // A program that can send metadata sends its token as everywhere.
    const withHeader = (metadata: Metadata) =>
      ask<IsActiveResponse>((answer) => client.isActive(ref({ tokenFromEnv: "" }), metadata, answer));
    expect((await withHeader(bearer(tokenFromEnv))).result).to.equal(true);
    const registration = await gateway.registrationToken();
    const denied = await withHeader(registration).catch((error: { code: number }) => error);
    expect(denied).to.include({ code: status.PERMISSION_DENIED });
  });
});
