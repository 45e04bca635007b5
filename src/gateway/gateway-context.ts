/** The context of one gateway: the application context with what its sessions and calls share. */
import { randomUUID } from "node:crypto";
import type { AppContext } from "../app/context.ts";
import { type AskedCheckout, checkoutToken } from "../app/git/checkout-token.ts";
import { mayPassOn } from "../board/agent-notices.ts";
import type { PresenceRecord, StepWait } from "../board/board.ts";
import type { ContentLimits } from "../domain/artifacts.ts";
import type { AgentId } from "../domain/ids.ts";
import { systemTimers, type Timers } from "../domain/clock.ts";
import { reportRefusedDispatch } from "./actor-messages.ts";
import { OpenSessions } from "../app/identity/sessions.ts";
import { CheckoutTokens } from "./checkout-tokens.ts";
import { ClaimQueue } from "./claim-queue.ts";
import type { GatewayPorts } from "./context.ts";
import { type Dispatch, DispatchBuilder } from "./dispatch-builder.ts";
import { SecretHandout } from "./secret-handout.ts";
import { LogLimits } from "./log-limits.ts";

/** A third of the shortest lease, rounded down, so that two heartbeats in a row may be lost. */
const HEARTBEAT_INTERVAL_MS = 3_000;

/** What the sessions and the calls of one gateway share. */
export interface GatewayParts {
  /** Names this gateway in presence records. */
  readonly gatewayId: string;
  readonly builder: DispatchBuilder;
  readonly claimQueue: ClaimQueue;
  /** The steps of an agent that wait for the tokens of their checkouts. Absent: none does. */
  readonly tokenWaits?: (agentId: AgentId) => readonly StepWait[];
  /** How often agents are asked to send a heartbeat, milliseconds. */
  readonly heartbeatIntervalMs: number;
  readonly timers: Timers;
  /** A new random UUID, which names a claim or a stream. */
  readonly newUuid: () => string;
}

/** What a session, or a heartbeat without a session, works with. */
export type SessionContext = GatewayPorts & GatewayParts;

/** The steps that a record of presence says to wait; undefined for none. */
export function waitsOf({ tokenWaits }: SessionContext, agentId: AgentId): Pick<PresenceRecord, "waits"> | undefined {
  const waits = tokenWaits?.(agentId);
  return waits === undefined || waits.length === 0 ? undefined : { waits };
}

/** For callers that pass it to use cases as well. */
export interface GatewayContext extends AppContext, GatewayParts {
  /** The streams of this gateway. */
  readonly sessions: OpenSessions;
}

/** A context with a new gateway id. The caller starts and stops the claim queue. `onPrepared`: see {@link DispatchBuilder}. */
export function gatewayContext(
  context: AppContext,
  heartbeatIntervalMs = HEARTBEAT_INTERVAL_MS,
  sessionCheckMs?: number,
  onPrepared?: (dispatch: Dispatch) => void,
): GatewayContext {
  const handout = new SecretHandout(context);
  const ask = (asked: AskedCheckout) => checkoutToken(context, asked);
  const tokens = new CheckoutTokens({ ask, clock: context.clock, timers: systemTimers });
  const builder = new DispatchBuilder({
    stores: context.stores,
    secrets: context.secrets,
    handout,
    logLimits: new LogLimits(context),
    identity: { ...context, allowed: (projectId, asked) => handout.allowed(projectId, asked) },
    contentLimits: contentLimitsOf(context),
    checkoutToken: (step, asked) => tokens.of(step, asked),
    onRefused: (step, reason) => reportRefusedDispatch(context, step, reason),
    onPrepared,
  });
  context.begunRuns?.listen((run) => builder.learn(run));
  context.begunRuns?.listenComing((step, run) => {
    // An agent that another process serves gets its dispatch there.
    if (mayPassOn(context, step.agentId)) builder.prepare(step, run);
  });
  return {
    ...context,
    gatewayId: randomUUID(),
    builder,
    claimQueue: new ClaimQueue(context),
    sessions: new OpenSessions(context, sessionCheckMs),
    tokenWaits: (agentId) => tokens.waitsOf(agentId),
    heartbeatIntervalMs,
    timers: systemTimers,
    newUuid: randomUUID,
  };
}

/** The bounds of this installation, as agents are told them. */
function contentLimitsOf({
  artifactRules,
  cacheRules,
}: Pick<AppContext, "artifactRules" | "cacheRules">): ContentLimits {
  const { maxFileBytes, maxArtifactBytes, maxRunBytes } = artifactRules;
  return {
    fileBytes: maxFileBytes,
    artifactBytes: Math.min(maxArtifactBytes, maxRunBytes),
    cacheBytes: Math.min(cacheRules.maxEntryBytes, cacheRules.maxProjectBytes),
  };
}
