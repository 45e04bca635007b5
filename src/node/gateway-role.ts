/** The role `gateway`: gRPC for agents and services. Only a node with the role loads it. */
import type { AppContext } from "../app/context.ts";
import type { NodeConfig } from "../settings/config.ts";
import type { TlsSource } from "../domain/tls.ts";
import { createGrpcServer } from "../grpc/server.ts";
import { type ReadinessChecks, readinessReader } from "../app/readiness.ts";
import { bindingAddress, reachableAddress } from "./listen.ts";
import type { Teardown } from "./teardown.ts";

const GRPC_GRACE_MS = 3_000;

/** Starts the gRPC listener, and resolves with `host:port` to connect to. */
export async function startGateway(
  config: NodeConfig,
  context: AppContext,
  { readiness, tls }: { readonly readiness: ReadinessChecks; readonly tls: TlsSource | null },
  teardown: Teardown,
): Promise<string> {
  const server = createGrpcServer(context, {
    readiness: readinessReader(context, readiness),
    tls,
    reflection: config.grpcReflection,
    agentsPerSecond: config.agentsPerSecond,
  });
  const { host } = config.grpc;
  const port = await server.start(bindingAddress(config.grpc));
  teardown.add("the gateway", () => server.stop(GRPC_GRACE_MS));
  return reachableAddress({ host, port });
}
