/** Messages of agent.v1: read into the types of the gateway, and written from them. */
import { z } from "zod";
import {
  type ConnectResponse,
  type Dispatch as DispatchMessage,
  type HeartbeatRequest,
  PullPolicy as PullPolicyMessage,
  type Hello as HelloMessage,
  IfMissing,
  type StepPhase,
  type StepReport as ReportMessage,
} from "../../../proto/generated/agent/v1/agent.ts";
import type { StepReport } from "../../gateway/actor-messages.ts";
import type { AgentMessage } from "../../gateway/agent-message.ts";
import type { Heartbeat, Hello } from "../../gateway/agent-session.ts";
import type { Dispatch } from "../../gateway/dispatch-builder.ts";
import type { AgentHoldings } from "../../gateway/reconciliation.ts";
import { agentFacts } from "../../gateway/registration.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type JobRunId, type StepRunId } from "../../domain/ids.ts";
import type { ContainerSpec, PullPolicy, ServiceSpec } from "../../domain/containers/containers.ts";
import { LOG_TAIL } from "../../domain/retention.ts";
import { bytesOf, OUTPUT_BOUNDS } from "../../domain/outputs.ts";
import { readNotes } from "./note-messages.ts";
import type { Pairs } from "../../domain/pairs.ts";
import { parseMessage } from "./parse-message.ts";

/** A bound that no agent reaches, even with all slots in use. */
const MAX_HELD = 10_000;

const id = z.string().min(1, "is required").max(128);
/** An id that the agent chooses: a boot id or a request id. */
export const agentChosenId = id;
/** The boot id of a message that has one. */
export const bootOf = z.object({ bootId: agentChosenId });

const wholeNumber = z
  .bigint()
  .refine(
    (value) => value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER),
    "must be a whole number from 0 to 2^53 - 1",
  )
  .transform(Number);

const stepRun = id.transform((text) => asId<StepRunId>(text));
const heldSteps = z.array(z.object({ stepRunId: stepRun, token: wholeNumber })).max(MAX_HELD);
const heldJobs = z.array(id.transform((text) => asId<JobRunId>(text))).max(MAX_HELD);

const holdings = z.object({
  held: heldSteps,
  heldJobIds: heldJobs,
  takesNoJobs: z.string().max(256),
  jobsLeft: z.number().int().min(0).optional(),
});

function readHoldings(
  message: Pick<HeartbeatRequest, "held" | "heldJobIds" | "takesNoJobs" | "jobsLeft">,
): AgentHoldings {
  const { held, heldJobIds, takesNoJobs, jobsLeft } = parseMessage(holdings, message);
  return { steps: held, jobIds: heldJobIds, takesNoJobs, ...(jobsLeft === undefined ? {} : { jobsLeft }) };
}

const PHASES: Record<Exclude<StepPhase, "STEP_PHASE_UNSPECIFIED">, StepReport["phase"]> = {
  STEP_PHASE_STARTED: "started",
  STEP_PHASE_SUCCEEDED: "succeeded",
  STEP_PHASE_FAILED: "failed",
  STEP_PHASE_CANCELLED: "cancelled",
  STEP_PHASE_TIMED_OUT: "timedOut",
  STEP_PHASE_LOST: "lost",
  STEP_PHASE_NOT_STARTED: "notStarted",
};

const report = z.object({
  runId: z.string().max(128),
  jobId: z.string().max(128),
  stepRunId: stepRun,
  token: wholeNumber,
  exitCode: z.number().int().min(-1),
  reason: z.string().max(4_096),
  lastLine: wholeNumber,
  startedAtMs: wholeNumber,
  endedAtMs: wholeNumber,
  usage: z
    .object({ cpuMs: wholeNumber, maxRssBytes: wholeNumber })
    .optional()
    .transform((usage) => usage ?? null),
});

const OUTPUT_NAME = /^[A-Za-z_][\w-]{0,63}$/;

/** A report of a step run. Throws `malformed_request`, also without a known phase or with more outputs than a step may have. */
export function readReport(message: ReportMessage | undefined): StepReport {
  if (message === undefined) throw new MillraceError("malformed_request", "the request has no report");
  const given = parseMessage(report, message);
  if (message.phase === "STEP_PHASE_UNSPECIFIED") {
    throw new MillraceError("malformed_request", `the report of ${given.stepRunId} has no known phase`);
  }
  const { startedAtMs, endedAtMs } = given;
  // A rest pattern takes V8 of Node 20 several times as long.
  return {
    stepRunId: given.stepRunId,
    ofJob: { runId: given.runId, jobId: given.jobId },
    token: given.token,
    phase: PHASES[message.phase],
    exitCode: given.exitCode,
    reason: given.reason,
    outputs: readOutputs(message),
    lastLine: given.lastLine,
    durationMs: startedAtMs > 0 ? Math.max(0, endedAtMs - startedAtMs) : 0,
    usage: given.usage,
    ...(message.notes === undefined ? {} : { notes: readNotes(message.notes) }),
  };
}

/** The outputs in the order of their names. Throws `malformed_request` for too many, too large or badly named outputs. */
function readOutputs({ stepRunId, outputs }: ReportMessage): Pairs<string> {
  const pairs = Object.entries(outputs).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const isFit =
    pairs.length <= OUTPUT_BOUNDS.count &&
    bytesOf(pairs) <= OUTPUT_BOUNDS.bytes &&
    pairs.every(([name]) => OUTPUT_NAME.test(name));
  if (isFit) return pairs;
  throw new MillraceError(
    "malformed_request",
    `the outputs of ${stepRunId} are not valid: a step may have up to ${OUTPUT_BOUNDS.count}, of ${OUTPUT_BOUNDS.bytes} bytes in all, with names that match ${OUTPUT_NAME.source}`,
  );
}

export function readHello(hello: HelloMessage): Hello {
  const facts = parseMessage(agentFacts, hello);
  return { ...parseMessage(bootOf, hello), facts, holdings: readHoldings(hello) };
}

export function readHeartbeat(heartbeat: HeartbeatRequest): Heartbeat {
  return { bootId: heartbeat.bootId, sequence: heartbeat.sequence, holdings: readHoldings(heartbeat) };
}

const IF_MISSING = {
  error: IfMissing.IF_MISSING_ERROR,
  warn: IfMissing.IF_MISSING_WARN,
  ignore: IfMissing.IF_MISSING_IGNORE,
} as const;

const PULL_POLICIES = {
  missing: PullPolicyMessage.PULL_POLICY_MISSING,
  always: PullPolicyMessage.PULL_POLICY_ALWAYS,
  never: PullPolicyMessage.PULL_POLICY_NEVER,
} as const satisfies Record<PullPolicy, PullPolicyMessage>;

function containerMessage(
  container: ContainerSpec,
  { isOwnContainer = false, imageDigests }: Dispatch,
): DispatchMessage["container"] {
  const { image, env, user, entrypoint, network, cpus, memoryBytes, pids, credential, pull } = container;
  return {
    image,
    env: envMessage(env),
    user,
    entrypoint: [...entrypoint],
    withoutNetwork: network === "none",
    cpus: cpus ?? 0,
    memoryBytes: BigInt(memoryBytes ?? 0),
    pids: pids ?? 0,
    credential,
    pull: PULL_POLICIES[pull],
    ofStep: isOwnContainer,
    digest: imageDigests.get(image) ?? "",
  };
}

function serviceMessage(
  { name, image, env, ports, health, credential, pull }: ServiceSpec,
  { imageDigests }: Pick<Dispatch, "imageDigests">,
) {
  return {
    name,
    image,
    env: envMessage(env),
    ports: [...ports],
    health:
      health === null
        ? undefined
        : {
            command: health.command,
            intervalMs: BigInt(health.intervalMs),
            timeoutMs: BigInt(health.timeoutMs),
            retries: health.retries,
          },
    credential,
    pull: PULL_POLICIES[pull],
    digest: imageDigests.get(image) ?? "",
  };
}

function envMessage(env: Pairs<string>) {
  return env.map(([name, value]) => ({ name, value }));
}

export function dispatchMessage(dispatch: Dispatch): DispatchMessage {
  const { plugin, contentLimits, junit, container, services } = dispatch;
  return {
    // Before the spread, because a member that is new behind one takes V8 of Node 20 some microseconds.
    testReports: junit && { junit: [...junit] },
    ...dispatch,
    token: BigInt(dispatch.token),
    env: envMessage(dispatch.env),
    container: container && containerMessage(container, dispatch),
    services: services.map((service) => serviceMessage(service, dispatch)),
    timeoutMs: BigInt(dispatch.timeoutMs),
    cancelGraceMs: BigInt(dispatch.cancelGraceMs),
    leaseMs: BigInt(dispatch.leaseMs),
    secrets: [...dispatch.secrets],
    artifacts: dispatch.artifacts.map(({ name, paths, ifMissing }) => ({
      name,
      paths: [...paths],
      ifMissing: IF_MISSING[ifMissing],
    })),
    plugin: plugin === null ? undefined : { sha256: plugin.sha256, sizeBytes: BigInt(plugin.sizeBytes) },
    logLimit: {
      lines: BigInt(dispatch.logLimit.lines),
      bytes: BigInt(dispatch.logLimit.bytes),
      tailLines: BigInt(LOG_TAIL.lines),
      tailBytes: BigInt(LOG_TAIL.bytes),
    },
    contentLimits: contentLimits && {
      fileBytes: BigInt(contentLimits.fileBytes),
      artifactBytes: BigInt(contentLimits.artifactBytes),
      cacheBytes: BigInt(contentLimits.cacheBytes),
    },
  };
}

export function connectResponse(message: AgentMessage): ConnectResponse {
  switch (message.type) {
    case "welcome": {
      const { agentId, eventNamespace } = message;
      const heartbeatIntervalMs = BigInt(message.heartbeatIntervalMs);
      return { message: { $case: "welcome", value: { agentId, heartbeatIntervalMs, eventNamespace } } };
    }
    case "dispatch":
      return { message: { $case: "dispatch", value: dispatchMessage(message.dispatch) } };
    case "revoke": {
      const { jobId, stepRunId, reason } = message;
      const value = { jobId, stepRunId, reason, token: BigInt(message.token), graceMs: BigInt(message.graceMs) };
      return { message: { $case: "revoke", value } };
    }
    case "release":
      return { message: { $case: "release", value: { jobId: message.jobId, succeeded: message.succeeded ?? false } } };
    case "acknowledge":
    case "refuse": {
      const value = { stepRunId: message.stepRunId, token: BigInt(message.token) };
      return { message: { $case: message.type, value } };
    }
    case "heartbeatAck":
      return { message: { $case: "heartbeatAck", value: { sequence: message.sequence } } };
  }
}
