import { credentials, type ServiceError, status } from "@grpc/grpc-js";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { expect } from "chai";
import {
  ServerReflectionClient,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "../../proto/generated/grpc/reflection/v1/reflection.ts";
import { ReflectionAlphaService } from "../../src/grpc/reflection-service.ts";
import { Gateway, Stream } from "./gateway.ts";

type Question = NonNullable<ServerReflectionRequest["messageRequest"]>;

const SERVICES = [
  "agent.v1.Agent",
  "gateway.v1.Gateway",
  "pipeline.v1.Pipeline",
  "audit.v1.Audit",
  "steprun.v1.StepRun",
  "externalscaler.ExternalScaler",
  "stream.v1.Stream",
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
];

describe("reflection", () => {
  let gateway: Gateway;
  let client: ServerReflectionClient;
  before(async () => {
    gateway = await Gateway.start();
    client = new ServerReflectionClient(`127.0.0.1:${gateway.port}`, credentials.createInsecure());
  });
  after(async () => {
    client.close();
    await gateway.stop();
  });

  /** Sends all questions on one stream; the answers come in order. */
  async function ask(...questions: (Question | undefined)[]): Promise<ServerReflectionResponse["messageResponse"][]> {
    const stream = new Stream(client.serverReflectionInfo());
    for (const messageRequest of questions) stream.send({ host: "here", messageRequest });
    stream.end();
    expect((await stream.ended()).code).to.equal(status.OK);
    expect(stream.received.map(({ originalRequest }) => originalRequest?.messageRequest)).to.deep.equal(questions);
    return stream.received.map(({ messageResponse }) => messageResponse);
  }

  async function filesOf(question: Question) {
    const [answer] = await ask(question);
    if (answer?.$case !== "fileDescriptorResponse") throw new Error(`no files: ${JSON.stringify(answer)}`);
    return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  }

  it("lists every service that the gateway offers, without a token", async () => {
    const [answer] = await ask({ $case: "listServices", value: "" });
    const names = answer?.$case === "listServicesResponse" && answer.value.service.map(({ name }) => name);
    expect(names).to.deep.equal(SERVICES);
  });

  it("describes every service with all files that it imports", async () => {
    for (const service of SERVICES) {
      const files = await filesOf({ $case: "fileContainingSymbol", value: service });
      const [first] = files;
      const declared = first?.service.map(({ name }) => `${first.package}.${name}`);
      expect(declared, service).to.include(service);
      const names = new Set(files.map(({ name }) => name));
      for (const { dependency } of files) expect([...names]).to.include.members(dependency);
      expect(names.size, "each file once").to.equal(files.length);
    }
  });

  it("finds files by their names, and by methods, messages, fields and values", async () => {
    const questions: Question[] = [
      { $case: "fileByFilename", value: "pipeline/v1/pipeline.proto" },
      { $case: "fileContainingSymbol", value: "pipeline.v1.Pipeline.TriggerPipeline" },
      { $case: "fileContainingSymbol", value: "pipeline.v1.PipelineRecord" },
      { $case: "fileContainingSymbol", value: "pipeline.v1.PipelineRecord.name" },
      { $case: "fileContainingSymbol", value: "pipeline.v1.RUN_STATUS_PAUSED" },
      { $case: "fileContainingSymbol", value: "pipeline.v1.RunStatus" },
    ];
    for (const question of questions) {
      const [first] = await filesOf(question);
      expect(first?.name, JSON.stringify(question)).to.equal("pipeline/v1/pipeline.proto");
    }
    expect((await filesOf(questions[0]!)).map(({ name }) => name)).to.include("google/protobuf/struct.proto");
  });

  it("answers an error for an unknown name, and the stream stays open", async () => {
    const codes = (
      await ask(
        { $case: "fileByFilename", value: "../server.ts" },
        { $case: "fileContainingSymbol", value: "pipeline.v1.Nothing" },
        { $case: "fileContainingExtension", value: { containingType: "agent.v1.Hello", extensionNumber: 1 } },
        { $case: "allExtensionNumbersOfType", value: "agent.v1.Hello" },
        { $case: "allExtensionNumbersOfType", value: "agent.v1.Nothing" },
        undefined,
      )
    ).map((answer) => (answer?.$case === "errorResponse" ? answer.value.errorCode : answer?.$case));
    const { NOT_FOUND, INVALID_ARGUMENT } = status;
    expect(codes).to.deep.equal([
      NOT_FOUND,
      NOT_FOUND,
      NOT_FOUND,
      "allExtensionNumbersResponse",
      NOT_FOUND,
      INVALID_ARGUMENT,
    ]);
  });

  it("answers tools that use the older version", async () => {
    const { path, requestSerialize, responseDeserialize } = ReflectionAlphaService.serverReflectionInfo;
    expect(path).to.equal("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    const stream = new Stream<ServerReflectionRequest, ServerReflectionResponse>(call);
    stream.send({ host: "", messageRequest: { $case: "listServices", value: "*" } });
    stream.end();
    expect((await stream.ended()).code).to.equal(status.OK);
    expect(stream.received).to.have.length(1);
  });

  it("is not offered when it is switched off", async () => {
    const closed = await Gateway.start({ reflection: false });
    const asker = new ServerReflectionClient(`127.0.0.1:${closed.port}`, credentials.createInsecure());
    const call = asker.serverReflectionInfo();
    const error = await new Promise<ServiceError>((resolve) => call.on("error", resolve));
    expect(error.code).to.equal(status.UNIMPLEMENTED);
    asker.close();
    await closed.stop();
  });
});
