/** The gRPC server of a gateway. */
import {
  Server,
  type ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { AuditService } from "../../proto/generated/audit/v1/audit.ts";
import { AgentService } from "../../proto/generated/agent/v1/agent.ts";
import { ExternalScalerService } from "../../proto/generated/externalscaler/externalscaler.ts";
import { GatewayService } from "../../proto/generated/gateway/v1/gateway.ts";
import { HealthService as HealthDefinition } from "../../proto/generated/grpc/health/v1/health.ts";
import { ServerReflectionService } from "../../proto/generated/grpc/reflection/v1/reflection.ts";
import { PipelineService } from "../../proto/generated/pipeline/v1/pipeline.ts";
import { StepRunService } from "../../proto/generated/steprun/v1/steprun.ts";
import { StreamService } from "../../proto/generated/stream/v1/stream.ts";
import { AgentPresenceFeed } from "../app/following/agent-presence-feed.ts";
import type { AppContext } from "../app/context.ts";
import { RunEventFeed } from "../app/following/run-event-feed.ts";
import { runStates } from "../app/following/run-states.ts";
import { StateFeed } from "../app/following/state-feed.ts";
import { SystemEventFeed } from "../app/system-events/system-event-feed.ts";
import type { Readiness } from "../app/readiness.ts";
import { MillraceError } from "../domain/errors.ts";
import type { TlsSource } from "../domain/tls.ts";
import { AgentChannels } from "./agent-channel.ts";
import { auditService } from "./audit-service.ts";
import { agentService } from "./agent-service.ts";
import { boundUnary, decodable, measureCalls, refuseUndecodable, UNARY_MS } from "./call-bounds.ts";
import { serverCredentials } from "./credentials.ts";
import { type DeafBounds, resetDeafCallers } from "./deaf-callers.ts";
import { externalScalerService } from "./external-scaler-service.ts";
import { gatewayService } from "./gateway-service.ts";
import { HealthService } from "./health-service.ts";
import { pipelineService } from "./pipeline-service.ts";
import { ServerStreams } from "./server-streams.ts";
import { ReflectionAlphaService, reflectionService } from "./reflection-service.ts";
import { stepRunService } from "./step-run-service.ts";
import { streamService } from "./stream-service.ts";
import { Meters } from "../telemetry/meters.ts";
import { Admission } from "../gateway/admission.ts";
import { gatewayContext } from "../gateway/gateway-context.ts";
import { EarlyDispatches } from "./messages/early-dispatches.ts";

/** PushLogs batches hold 1 MiB of text; hellos name everything that an agent holds. */
const MAX_MESSAGE_BYTES = 4 << 20;

/** Open calls of one connection. Further calls wait on the caller's side. */
const MAX_STREAMS = 1_000;

const AGENTS_PER_SECOND = 100;

export interface GrpcServerOptions {
  /** Whether this gateway can serve calls, for its health service. */
  readonly readiness: () => Promise<Readiness>;
  /** Null, the default, means plaintext. */
  readonly tls?: TlsSource | null;
  /** Whether the reflection service is offered; default true. */
  readonly reflection?: boolean;
  /** Milliseconds between the heartbeats of an agent; default 3,000. */
  readonly heartbeatIntervalMs?: number;
  /** Agents that are admitted in a second; default 100. */
  readonly agentsPerSecond?: number;
  /** Milliseconds for which a caller may read nothing of a stream, until the stream is ended; default 30,000. */
  readonly stallMs?: number;
  /** Bounds on the bytes that wait for callers who do not read. */
  readonly deaf?: DeafBounds;
  /** Milliseconds that a unary call without a deadline may take; default 60,000. */
  readonly unaryMs?: number;
  /** Milliseconds between two checks of the tokens of open streams. */
  readonly sessionCheckMs?: number;
}

export interface GrpcServer {
  /** Listens on `host:port` and resolves with the port; port 0 means a free one. Throws `unavailable` when it cannot listen. */
  start(address: string): Promise<number>;
  /** Ends all streams, lets calls finish for at most `graceMs`, and stops. Idempotent. */
  stop(graceMs: number): Promise<void>;
}

export function createGrpcServer(context: AppContext, options: GrpcServerOptions): GrpcServer {
  const early = new EarlyDispatches();
  const gateway = gatewayContext(context, options.heartbeatIntervalMs, options.sessionCheckMs, (dispatch) =>
    early.encode(dispatch),
  );
  const perSecond = options.agentsPerSecond ?? AGENTS_PER_SECOND;
  const channels = new AgentChannels(gateway, new Admission({ perSecond, clock: context.clock }), early);
  const streams = new ServerStreams(gateway, options.stallMs);
  const followers = {
    runEvents: new RunEventFeed(gateway),
    presenceFeed: new AgentPresenceFeed(gateway),
    runs: new StateFeed(gateway, runStates(gateway)),
    systemEvents: new SystemEventFeed(gateway),
  };
  const { log } = context;
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_concurrent_streams": MAX_STREAMS,
    // Keepalive pings detect agents that disappear without closing their connection.
    "grpc.keepalive_time_ms": 20_000,
    "grpc.keepalive_timeout_ms": 10_000,
    // Channelz keeps statistics of each connection and call. Nothing reads them.
    "grpc.enable_channelz": 0,
    interceptors: [
      // The first one, because it needs the call of the library itself.
      resetDeafCallers(context.clock, options.deaf),
      measureCalls(context.clock, context.meters ?? new Meters()),
      refuseUndecodable(log),
      boundUnary(log, options.unaryMs ?? UNARY_MS),
    ],
  });
  const serve = <S extends ServiceDefinition>(definition: S, implementation: UntypedServiceImplementation): string => {
    server.addService(decodable(definition), implementation);
    return serviceName(definition);
  };
  const services = [
    serve(AgentService, agentService(gateway, channels)),
    serve(GatewayService, gatewayService(gateway)),
    serve(PipelineService, pipelineService(gateway)),
    serve(AuditService, auditService(gateway)),
    serve(StepRunService, stepRunService(gateway)),
    serve(ExternalScalerService, externalScalerService(gateway, streams)),
    serve(StreamService, streamService(gateway, { channels, streams, ...followers })),
  ];
  const health = new HealthService({ readiness: options.readiness, services, log });
  const offered = [...services, serve(HealthDefinition, health.server)];
  if (options.reflection !== false) {
    const reflection = reflectionService([...offered, serviceName(ServerReflectionService)], log);
    serve(ServerReflectionService, reflection);
    serve(ReflectionAlphaService, reflection);
  }

  return {
    async start(address) {
      await gateway.claimQueue.start();
      try {
        return await bind(server, address, serverCredentials(options.tls ?? null));
      } catch (error) {
        await gateway.claimQueue.stop();
        throw error;
      }
    },
    async stop(graceMs) {
      health.stop();
      await gateway.claimQueue.stop();
      channels.endAll();
      streams.endAll();
      await shutDown(server, graceMs);
    },
  };
}

/** `agent.v1.Agent` for the definition of that service. */
function serviceName(definition: ServiceDefinition): string {
  const [, name] = /^\/(.+)\//.exec(Object.values(definition)[0]?.path ?? "") ?? [];
  if (name === undefined) throw new TypeError("a service without a method has no name");
  return name;
}

function bind(server: Server, address: string, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error === null) resolve(port);
      else {
        const text = `the gRPC server cannot listen on ${address}: ${error.message}; set MILLRACE_GRPC_ADDRESS to another address`;
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
