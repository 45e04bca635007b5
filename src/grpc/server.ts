/** The gRPC server of a gateway. */
import { randomUUID } from "node:crypto";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { AgentService } from "../../proto/generated/agent/v1/agent.ts";
import { GatewayService } from "../../proto/generated/gateway/v1/gateway.ts";
import { PipelineService } from "../../proto/generated/pipeline/v1/pipeline.ts";
import { StepRunService } from "../../proto/generated/steprun/v1/steprun.ts";
import { StreamService } from "../../proto/generated/stream/v1/stream.ts";
import { ClaimDesk } from "../app/agent-claim-desk.ts";
import { DispatchBuilder } from "../app/agent-dispatch.ts";
import { reportRefusedOrder } from "../app/agent-letters.ts";
import type { AppContext } from "../app/context.ts";
import { MillraceError } from "../domain/errors.ts";
import { AgentChannels } from "./agent-channel.ts";
import { agentService } from "./agent-service.ts";
import { gatewayService } from "./gateway-service.ts";
import type { GatewayContext } from "./gateway-context.ts";
import { pipelineService } from "./pipeline-service.ts";
import { stepRunService } from "./step-run-service.ts";
import { unimplementedService } from "./unimplemented.ts";

/** A third of the shortest lease, rounded down: two heartbeats may be lost. */
const HEARTBEAT_INTERVAL_MS = 3_000;
/** PushLogs batches hold 1 MiB of text; hellos name everything that an agent holds. */
const MAX_MESSAGE_BYTES = 4 << 20;

export interface GrpcServerOptions {
  /** PEM files' contents; without them the server speaks plaintext. */
  readonly tls?: { readonly certificate: Buffer; readonly privateKey: Buffer };
  /** Milliseconds; default 3,000. */
  readonly heartbeatIntervalMs?: number;
}

export interface GrpcServer {
  /** `host:port`, port 0 for a free one; answers the port. `unavailable` when the address is not to be had. */
  start(address: string): Promise<number>;
  /** Ends the agents' streams, lets calls finish for at most `graceMs`, and stops. Idempotent. */
  stop(graceMs: number): Promise<void>;
}

export function createGrpcServer(context: AppContext, options: GrpcServerOptions = {}): GrpcServer {
  const gateway: GatewayContext = {
    ...context,
    gatewayId: randomUUID(),
    builder: new DispatchBuilder({
      stores: context.stores,
      secrets: context.secrets,
      onRefused: (order, reason) => reportRefusedOrder(context, order, reason),
    }),
    desk: new ClaimDesk(context),
    heartbeatIntervalMs: options.heartbeatIntervalMs ?? HEARTBEAT_INTERVAL_MS,
  };
  const channels = new AgentChannels(gateway);
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    // Finds agents that vanished without closing their connection.
    "grpc.keepalive_time_ms": 20_000,
    "grpc.keepalive_timeout_ms": 10_000,
  });
  server.addService(AgentService, agentService(gateway, channels));
  server.addService(GatewayService, gatewayService(gateway));
  server.addService(PipelineService, pipelineService(gateway));
  server.addService(StepRunService, stepRunService(gateway));
  server.addService(StreamService, unimplementedService(StreamService, context.log));

  return {
    async start(address) {
      await gateway.desk.start();
      try {
        return await bind(server, address, options.tls);
      } catch (error) {
        await gateway.desk.stop();
        throw error;
      }
    },
    async stop(graceMs) {
      await gateway.desk.stop();
      channels.endAll();
      await shutDown(server, graceMs);
    },
  };
}

function bind(server: Server, address: string, tls: GrpcServerOptions["tls"]): Promise<number> {
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: tls.certificate, private_key: tls.privateKey }]);
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error === null) resolve(port);
      else {
        const text = `the gRPC server cannot listen on ${address}: ${error.message}; set MILLRACE_GRPC_ADDRESS to another`;
        reject(new MillraceError("unavailable", text, { cause: error }));
      }
    });
  });
}

function shutDown(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.forceShutdown(), graceMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
