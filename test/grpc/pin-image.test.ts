import { type ServiceError, status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { PinImageRequest } from "../../proto/generated/gateway/v1/gateway.ts";
import type { ContainerSpec, ServiceSpec } from "../../src/domain/containers/containers.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";
import { Gateway, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

const use = { env: [], credential: "", pull: "missing", late: [] } as const;
const CONTAINER: ContainerSpec = {
  ...use,
  image: "node:22",
  user: "",
  entrypoint: [],
  network: "default",
  cpus: null,
  memoryBytes: null,
  pids: null,
};
const LATE: ServiceSpec = {
  ...use,
  name: "db",
  image: "postgres:${{ format('1{0}', 7) }}",
  late: ["/image"],
  ports: [],
  health: null,
};
const digestOf = (digit: number) => `sha256:${String(digit).repeat(64)}`;

describe("the images of a run that agents find", () => {
  let gateway: Gateway;
  let agent: TestAgent;
  let run: StoredRun;

  before(async () => {
    gateway = await Gateway.start();
    agent = await gateway.register("tester");
    const [job] = jobSpecsOf(planOf([[{}]]));
    run = await StoredRun.create(gateway.stores, [{}], { ...job!, container: CONTAINER, services: [LATE] });
    await run.grant({ agentId: agent.agentId, bootId: "b", requestId: "r", token: 1 }, "running");
  });
  after(() => gateway.stop());

  const pin = (fields: Partial<PinImageRequest> = {}) =>
    new Promise<string>((resolve, reject) => {
      const request = { stepRunId: run.stepRunId(), token: 1n, image: "node:22", digest: digestOf(1), ...fields };
      gateway
        .logs()
        .pinImage(request, agent.metadata, (error, response) =>
          error === null ? resolve(response.digest) : reject(error),
        );
    });
  const refusal = (fields: Partial<PinImageRequest>) =>
    pin(fields).then(
      (digest) => expect.fail(`it was answered with ${digest}`),
      ({ code, details }: ServiceError) => [code, details] as const,
    );

  it("keep the digest that was told first, also for a reference that is known during the run", async () => {
    expect(await pin()).to.equal(digestOf(1));
    expect(await pin({ digest: digestOf(2) })).to.equal(digestOf(1));
    expect(await pin({ image: "postgres:17", digest: digestOf(3) })).to.equal(digestOf(3));
    expect((await gateway.stores.runImages.of(run.runId)).map(({ image }) => image)).to.have.members([
      "node:22",
      "postgres:17",
    ]);
  });

  it("are not taken for an image that the step does not have, for another grant, or without a digest", async () => {
    const [code, details] = await refusal({ image: "node:24" });
    expect(code).to.equal(status.FAILED_PRECONDITION);
    expect(details).to.match(/^step run step_\w+ has no image "node:24"$/);
    expect((await refusal({ token: 2n }))[0]).to.equal(status.FAILED_PRECONDITION);
    expect((await refusal({ digest: "sha256:1" }))[0]).to.equal(status.INVALID_ARGUMENT);
    const other = await gateway.register("other");
    const request = { stepRunId: run.stepRunId(), token: 1n, image: "node:22", digest: digestOf(1) };
    const foreign = await new Promise<ServiceError | null>((resolve) =>
      gateway.logs().pinImage(request, other.metadata, (error) => resolve(error)),
    );
    expect(foreign?.code).to.equal(status.FAILED_PRECONDITION);
  });
});
