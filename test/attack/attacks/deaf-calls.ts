import { connect } from "node:http2";
import { GetPipelineRunRequest, PipelineService } from "../../../proto/generated/pipeline/v1/pipeline.ts";
import type { Attack } from "../attack.ts";
import { runIdOf, startRun, untilOver, waitingJobs } from "../following.ts";

const CONNECTIONS = 10;
const CALLS_OF_CONNECTION = 40;

export const attack: Attack = {
  name: "deaf-calls",
  title: "calls 400 times over gRPC for parts of a run of 1,000 jobs, and reads none of the answers",
  as: "viewer",
  async run(target, signal) {
    const [first] = await startRun(target, "long message", waitingJobs(1_000));
    const runId = await runIdOf(target, first!.pipelineId);
    for (let opened = 0; opened < CONNECTIONS && !signal.aborted; opened++) {
      const session = connect(`http://${target.gateway}`);
      session.on("error", (error: NodeJS.ErrnoException) => target.count(`ended: ${error.code ?? error.message}`));
      for (let call = 0; call < CALLS_OF_CONNECTION; call++) {
        const stream = session.request({
          ":method": "POST",
          ":path": PipelineService.getPipelineRun.path,
          "content-type": "application/grpc",
          te: "trailers",
          authorization: `Bearer ${target.tokens.viewer}`,
        });
        stream.on("error", () => {});
        stream.on("response", (headers) => target.count(`status ${headers["grpc-status"]?.toString() ?? "to come"}`));
        stream.on("close", () => target.count(`closed with ${stream.rstCode}`));
        // All jobs but one: no two calls of a connection ask for the same answer.
        const jobs = `1..${call + 1},${call + 3}..1000`;
        const request = GetPipelineRunRequest.encode({ pipelineId: "", runId, allAttempts: false, jobs }).finish();
        const frame = Buffer.alloc(5);
        frame.writeUInt32BE(request.length, 1);
        stream.end(Buffer.concat([frame, request]));
      }
    }
    await untilOver(signal);
  },
};
