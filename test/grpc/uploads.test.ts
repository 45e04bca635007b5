/** Uploads of a trigger over a real gateway and its store: handed out to the agent that holds a step of the run. */
import { createHash, randomBytes } from "node:crypto";
import { status, type ServiceError } from "@grpc/grpc-js";
import { expect } from "chai";
import { deleteUploadNow } from "../../src/app/content/upload-pruner.ts";
import { uploadFile } from "../../src/app/content/uploads.ts";
import { firstStart } from "../support/first-start.ts";
import type { Caller } from "../../src/app/identity/access.ts";
import { PIECE_BYTES } from "../../src/domain/artifacts.ts";
import { asId, type ProjectId } from "../../src/domain/ids.ts";
import { Gateway, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

const ADMIN: Caller = { kind: "user", userId: asId("usr_1"), name: "ann", role: "admin", scopes: [] };

describe("uploads over gRPC", () => {
  let gateway: Gateway;
  let agent: TestAgent;
  let other: TestAgent;
  before(async () => {
    gateway = await Gateway.start();
    await firstStart(gateway.context);
    agent = await gateway.register("holder");
    other = await gateway.register("other");
  });
  after(() => gateway.stop());

  const send = async (content: Uint8Array) => {
    const pieces = async function* () {
      yield content;
    };
    const open = async () => ({ name: "a.bin", type: "text/plain", atMost: undefined, content: pieces() });
    const { uploadId, name, size, sha256 } = await uploadFile(gateway.context, ADMIN, {
      projectId: asId<ProjectId>("default"),
      open,
    });
    return { uploadId, name, size, sha256: sha256! };
  };
  const running = async (uploads: Parameters<typeof StoredRun.create>[3]): Promise<StoredRun> => {
    const run = await StoredRun.create(gateway.stores, [{}], {}, uploads);
    await run.grant({ agentId: agent.agentId, bootId: "boot-1", token: 1, requestId: "r" }, "running");
    return run;
  };
  const pull = async (run: StoredRun, name: string, { offset = 0, by = agent, token = 1n } = {}) => {
    const stepRunId = run.stepRunId();
    const stream = gateway.logs().pullUpload({ stepRunId, token, name, offset: BigInt(offset) }, by.metadata);
    const pieces: Buffer[] = [];
    let found: object | undefined;
    try {
      for await (const { message } of stream) {
        if (message?.$case === "found") found = message.value;
        if (message?.$case === "data") pieces.push(message.value);
      }
      return { code: status.OK, details: "", found, content: Buffer.concat(pieces) };
    } catch (error) {
      const { code, details } = error as ServiceError;
      return { code, details, found, content: Buffer.concat(pieces) };
    }
  };

  it("are handed out whole or from an offset on, with their checksum", async () => {
    const content = randomBytes(PIECE_BYTES + 10);
    const [upload, empty] = [await send(content), await send(Buffer.alloc(0))];
    const run = await running({
      uploads: [
        ["FIRMWARE", upload],
        ["EMPTY", empty],
      ],
    });
    const whole = await pull(run, "FIRMWARE");
    expect(whole.code, whole.details).to.equal(status.OK);
    const sha256 = createHash("sha256").update(content).digest("hex");
    const { uploadId } = upload;
    expect(whole.found).to.deep.equal({ uploadId, fileName: "a.bin", sizeBytes: BigInt(content.length), sha256 });
    expect(whole.content.equals(content)).to.equal(true);
    const end = await pull(run, "FIRMWARE", { offset: PIECE_BYTES - 1 });
    expect(end.content.equals(content.subarray(PIECE_BYTES - 1))).to.equal(true);
    expect(await pull(run, "FIRMWARE", { offset: content.length })).to.include({ code: status.OK });
    expect(await pull(run, "EMPTY")).to.include({ code: status.OK });
    expect(await pull(run, "FIRMWARE", { offset: content.length + 1 })).to.include({ code: status.OUT_OF_RANGE });
  });

  it("are handed out only to the agent that holds a step of a run that has them", async () => {
    const upload = await send(Buffer.from("abc"));
    const run = await running({ uploads: [["FIRMWARE", upload]] });
    const without = await running({});
    for (const refused of [await pull(run, "FIRMWARE", { by: other }), await pull(run, "FIRMWARE", { token: 2n })]) {
      expect(refused.code, refused.details).to.equal(status.FAILED_PRECONDITION);
      expect(refused.content).to.have.length(0);
    }
    const misspelt = await pull(run, "FIRMWRE");
    expect(misspelt).to.include({ code: status.NOT_FOUND });
    expect(misspelt.details).to.include('gave no upload "FIRMWRE": it gave only FIRMWARE');
    expect((await pull(without, "FIRMWARE")).details).to.include("it gave no upload");
    await deleteUploadNow(gateway.stores, upload.uploadId);
    expect((await pull(run, "FIRMWARE")).details).to.include("was deleted since");
  });
});
