/** Registers the agent with the control plane. */
import { readFile } from "node:fs/promises";
import { type ServiceError, status } from "@grpc/grpc-js";
import type { AgentClient, RegisterRequest, RegisterResponse } from "../../../proto/generated/agent/v1/agent.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import { Backoff } from "./backoff.ts";
import type { AgentIdentity } from "./identity.ts";
import { bearer } from "./gateway-clients.ts";

const CALL_MS = 10_000;

/** Codes of answers that another attempt cannot change. */
const REFUSALS: readonly status[] = [
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.INVALID_ARGUMENT,
  status.ALREADY_EXISTS,
  status.FAILED_PRECONDITION,
  status.UNIMPLEMENTED,
];

/**
 * Registers this agent, and repeats the attempt while the control plane cannot be reached. Undefined when `signal` is
 * aborted. Rejects with `unauthenticated` when the control plane refuses the token, and with `malformed_request` when
 * it refuses the request. `token` is read for each attempt.
 */
export async function register(
  client: AgentClient,
  token: string | (() => Promise<string>),
  request: RegisterRequest,
  log: Logger,
  signal: AbortSignal,
): Promise<AgentIdentity | undefined> {
  for (const backoff = new Backoff(); !signal.aborted; await backoff.wait(signal)) {
    const text = typeof token === "string" ? token : await token();
    try {
      const { agentId, agentToken } = await callRegister(client, text, request);
      log.info({ agentId, name: request.name }, "registered with the control plane");
      return { agentId, agentToken, name: request.name };
    } catch (error) {
      const { code, details } = error as ServiceError;
      if (REFUSALS.includes(code)) throw refusal(code, details, error);
      log.warn(
        { gateway: client.getChannel().getTarget(), code: status[code], details },
        "cannot register yet; trying again",
      );
    }
  }
  return undefined;
}

/** The identity token in a file. Rejects with `malformed_request` when there is none. */
export async function readIdentityToken(file: string): Promise<string> {
  let why = "it is empty";
  try {
    const text = (await readFile(file, "utf8")).trim();
    if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return text;
    if (text !== "") why = "it holds no identity token";
  } catch (error) {
    why = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
  throw new MillraceError("malformed_request", `cannot read the identity token in ${file} (${why})`);
}

function callRegister(client: AgentClient, token: string, request: RegisterRequest): Promise<RegisterResponse> {
  return new Promise((resolve, reject) => {
    client.register(request, bearer(token), { deadline: Date.now() + CALL_MS }, (error, response) =>
      error === null ? resolve(response) : reject(error),
    );
  });
}

function refusal(code: status, details: string, cause: unknown): MillraceError {
  const byToken = code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED;
  return byToken
    ? new MillraceError("unauthenticated", `the control plane refuses the registration token: ${details}`, { cause })
    : new MillraceError("malformed_request", `the gateway refuses to register this agent: ${details}`, { cause });
}
