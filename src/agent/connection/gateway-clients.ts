/**
 * The connection to the control plane: one address and one channel, which is encrypted unless it stays on this machine.
 */
import { readFile } from "node:fs/promises";
import { Channel, type ChannelCredentials, compressionAlgorithms, credentials, Metadata } from "@grpc/grpc-js";
import { AgentClient } from "../../../proto/generated/agent/v1/agent.ts";
import { GatewayClient } from "../../../proto/generated/gateway/v1/gateway.ts";
import { MillraceError } from "../../domain/errors.ts";

export interface GatewayClients {
  readonly agent: AgentClient;
  readonly gateway: GatewayClient;
  close(): void;
}

/**
 * Pass this as the encoding when a message is written to a stream, so that the message is not compressed. It is the
 * write flag "no compression" of gRPC, which the library reads from that argument and does not export.
 */
export const UNCOMPRESSED = 2 as unknown as BufferEncoding;

export interface Connection {
  /** `host:port` of a gateway, or of a load balancer before several gateways. */
  readonly address: string;
  /**
   * Encrypts the connection. `caFile` (PEM) replaces the certificate authorities of the system. `client` (PEM) is the
   * certificate that this agent presents, with its key.
   */
  readonly tls?: {
    readonly caFile?: string;
    readonly client?: { readonly certificateFile: string; readonly keyFile: string };
  };
  /** Allows an unencrypted connection to a host that is not this machine. */
  readonly insecure?: boolean;
}

/**
 * Creates the clients without connecting. Rejects with `malformed_request` for a malformed address, unreadable
 * certificate files, or an address to which tokens would be sent unencrypted over a network.
 */
export async function openGatewayClients(connection: Connection): Promise<GatewayClients> {
  const channelCredentials = await credentialsFor(connection);
  const channel = new Channel(connection.address, channelCredentials, {
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
    // A gateway that disappears without closing the connection is noticed within 15 s, even between heartbeats.
    "grpc.keepalive_time_ms": 10_000,
    "grpc.keepalive_timeout_ms": 5_000,
    // Applies to messages without UNCOMPRESSED. Batches of log lines shrink to an eighth.
    "grpc.default_compression_algorithm": compressionAlgorithms.gzip,
    // Dispatches carry arguments and environments that may be large.
    "grpc.max_receive_message_length": 16 * 1024 * 1024,
  });
  const options = { channelOverride: channel };
  return {
    agent: new AgentClient(connection.address, channelCredentials, options),
    gateway: new GatewayClient(connection.address, channelCredentials, options),
    close: () => channel.close(),
  };
}

/** Metadata that carries a bearer token. */
export function bearer(token: string): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return metadata;
}

async function credentialsFor({ address, tls, insecure }: Connection): Promise<ChannelCredentials> {
  const host = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[^:[\]/\s]+)):\d{1,5}$/.exec(address)?.groups;
  if (host === undefined) {
    throw new MillraceError("malformed_request", `the gateway's address must be host:port, not "${address}"`);
  }
  if (tls !== undefined) {
    const authorities = tls.caFile === undefined ? null : await readPem("certificate authorities", tls.caFile);
    if (tls.client === undefined) return credentials.createSsl(authorities);
    const key = await readPem("key of the client certificate", tls.client.keyFile);
    const certificate = await readPem("client certificate", tls.client.certificateFile);
    try {
      return credentials.createSsl(authorities, key, certificate);
    } catch (error) {
      const text = `${tls.client.keyFile} does not hold the key of the certificate in ${tls.client.certificateFile}`;
      throw new MillraceError("malformed_request", text, { cause: error });
    }
  }
  const name = host["v6"] ?? host["name"]!;
  if (insecure === true || name === "localhost" || name === "::1" || /^127(?:\.\d{1,3}){3}$/.test(name)) {
    return credentials.createInsecure();
  }
  throw new MillraceError(
    "malformed_request",
    `the connection to ${address} would carry tokens unencrypted: use --security tls, or allow it with --security plaintext`,
  );
}

async function readPem(what: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new MillraceError("malformed_request", `cannot read the ${what} in ${file}`, { cause: error });
  }
}
