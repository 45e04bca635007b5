/**
 * The host of a repository as the receiver of commit statuses. The statuses of one commit and name are set one after the other,
 * and one that a newer one has overtaken is not set any more.
 */
import { MillraceError } from "../../domain/errors.ts";
import { GitFault } from "../../git/git-fault.ts";
import type { Delivery, DeliveryTry } from "../../stores/ports/deliveries.ts";
import { openProviderOf } from "../git/provider-access.ts";
import type { Receiver, Sent } from "../webhooks/receivers.ts";
import type { StatusContext } from "./context.ts";
import { reportedBy } from "./reporting.ts";
import { isNewer, statusOf } from "./status-record.ts";

/** Deliveries of a lane among which a newer one is sought. Those that were overtaken are dropped, so few are kept. */
const COMPARED = 50;

/** The hosts that want to be left alone, by project and name, and until when. Kept in memory: a host says it again. */
export type Pauses = Map<string, number>;

export function statusReceiver(context: StatusContext, pauses: Pauses): Receiver {
  const { deliveries } = context.stores;
  return {
    channelOf: () => "commit-status",
    ordered: false,
    serial: true,
    refusal: null,
    async readiness(delivery) {
      const others = await deliveries.list(delivery.lane, {}, COMPARED, undefined);
      if (others.some((other) => isNewer(other, delivery))) return "over";
      const key = pauseKey(delivery);
      const until = pauses.get(key) ?? 0;
      if (until > context.clock.now()) return until;
      pauses.delete(key);
      return "lasts";
    },
    async send(delivery, signal) {
      const sent = await setStatus(context, delivery, signal);
      if (sent.notBefore !== undefined) pauses.set(pauseKey(delivery), sent.notBefore);
      return sent;
    },
    noted: () => Promise.resolve(),
    // Another node has set a status meanwhile, and perhaps an earlier one than the one that was set here.
    async overtaken({ lane }) {
      const [first, ...others] = await deliveries.list(lane, {}, COMPARED, undefined);
      if (first === undefined) return;
      const newest = others.reduce((best, other) => (isNewer(other, best) ? other : best), first);
      await deliveries.owe(newest.deliveryId, context.clock.now());
    },
  };
}

function pauseKey(delivery: Delivery): string {
  return `${delivery.projectId}/${statusOf(delivery).host}`;
}

async function setStatus(context: StatusContext, delivery: Delivery, signal: AbortSignal): Promise<Sent> {
  const { clock } = context;
  const { pipelineId, commit, name, state, description, url, host } = statusOf(delivery);
  const at = clock.now();
  const began = clock.monotonic();
  const tried = (error: string): DeliveryTry => ({
    at,
    durationMs: Math.round(clock.monotonic() - began),
    status: null,
    error,
    request: { url: host, headers: {} },
    answer: "",
  });
  const pipeline = await context.stores.pipelines.find(pipelineId);
  if (pipeline === undefined || reportedBy(pipeline) === "off") {
    return { outcome: "gone", tried: tried("the pipeline reports no commit statuses any more") };
  }
  try {
    const provider = await openProviderOf(context, pipeline);
    await provider.setStatus({ commit, name, state, description, url }, signal);
    return { outcome: "delivered", tried: tried("") };
  } catch (error) {
    // A setting, a secret or a right may be mended before the next try; a refusal of this very status comes again.
    if (error instanceof MillraceError) return { outcome: "failed", tried: tried(error.message) };
    if (!(error instanceof GitFault)) throw error;
    const { kind, message, retryAfterSeconds } = error;
    return {
      outcome: kind === "refused" ? "gone" : "failed",
      tried: tried(message),
      ...(retryAfterSeconds !== null && { notBefore: clock.now() + retryAfterSeconds * 1_000 }),
    };
  }
}
