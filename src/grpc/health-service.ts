/** grpc.health.v1: whether this gateway can serve calls now, for load balancers and probes. Needs no token. */
import { setTimeout as sleep } from "node:timers/promises";
import type { HealthCheckResponse, HealthServer } from "../../proto/generated/grpc/health/v1/health.ts";
import type { Readiness } from "../app/readiness.ts";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { serveStream } from "./calls.ts";
import { toStatus } from "./status.ts";

/** A watcher learns of a change within this time. */
const CHECK_EVERY_MS = 1_000;
/** Watchers need no token, so their number is bounded. */
const MAX_WATCHERS = 200;

type Serving = HealthCheckResponse["status"];

export interface HealthOptions {
  readonly readiness: () => Promise<Readiness>;
  /** Full names of the services. The health of each is that of the gateway. */
  readonly services: readonly string[];
  readonly log: Logger;
}

export class HealthService {
  readonly server: HealthServer;
  readonly #options: HealthOptions;
  readonly #stopping = new AbortController();
  #watchers = 0;
  #nextCheck: Promise<void> | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
    const { log } = options;
    this.server = {
      check: (call, answer) => {
        void this.#status(call.request.service).then((status) => {
          if (status !== "SERVICE_UNKNOWN") return answer(null, { status });
          const text = `there is no service ${call.request.service}: ask for one of ${options.services.join(", ")}`;
          return answer(toStatus(new MillraceError("not_found", text), call.getPath(), log));
        });
      },
      watch: (call) => {
        serveStream<HealthCheckResponse>(log, call, (write, hungUp) =>
          this.#watch(call.request.service, (status) => write({ status }), hungUp),
        );
      },
    };
  }

  /** From now on every answer is NOT_SERVING. Watchers receive it, and their streams end with `unavailable`. */
  stop(): void {
    this.#stopping.abort();
  }

  async #status(service: string): Promise<Serving> {
    if (this.#stopping.signal.aborted) return "NOT_SERVING";
    if (service !== "" && !this.#options.services.includes(service)) return "SERVICE_UNKNOWN";
    const { failed } = await this.#options.readiness();
    return failed.length === 0 ? "SERVING" : "NOT_SERVING";
  }

  /** Sends the status and each change of it until the stream is over, at which `hungUp` fires. */
  async #watch(service: string, send: (status: Serving) => Promise<void>, hungUp: AbortSignal): Promise<void> {
    if (this.#watchers >= MAX_WATCHERS) {
      throw new MillraceError(
        "too_many",
        `${MAX_WATCHERS} callers watch the health of this gateway already: use Check`,
      );
    }
    this.#watchers++;
    hungUp.addEventListener("abort", () => this.#watchers--, { once: true });
    for (let sent: Serving | undefined; !hungUp.aborted; await this.#waitForNextCheck()) {
      const status = await this.#status(service);
      if (status !== sent) await send((sent = status));
      if (sent === "NOT_SERVING" && this.#stopping.signal.aborted) {
        throw new MillraceError("unavailable", "this gateway is shutting down: connect again");
      }
    }
  }

  /** Resolves at the next check, which is the same for all watchers; at once when the gateway stops. */
  #waitForNextCheck(): Promise<void> {
    const { signal } = this.#stopping;
    this.#nextCheck ??= sleep(CHECK_EVERY_MS, undefined, { ref: false, signal })
      .catch(() => {})
      .finally(() => (this.#nextCheck = undefined));
    return this.#nextCheck;
  }
}
