/** grpc.health.v1: whether this gateway is of use now, for load balancers and probes. Needs no token. */
import { setTimeout as sleep } from "node:timers/promises";
import type { HealthCheckResponse, HealthServer } from "../../proto/generated/grpc/health/v1/health.ts";
import type { Readiness } from "../app/readiness.ts";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { serveStream } from "./calls.ts";
import { toStatus } from "./status.ts";

/** How late a watcher may hear of a change. */
const LOOK_EVERY_MS = 1_000;
/** Strangers may watch: so many in all. */
const MAX_WATCHERS = 200;

type Serving = HealthCheckResponse["status"];

export interface HealthOptions {
  readonly readiness: () => Promise<Readiness>;
  /** Full names; each is as healthy as the gateway. */
  readonly services: readonly string[];
  readonly log: Logger;
}

export class HealthService {
  readonly server: HealthServer;
  readonly #options: HealthOptions;
  readonly #stopping = new AbortController();
  #watchers = 0;
  #nextLook: Promise<void> | undefined;

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

  /** From now on nothing is served; watchers are told so, and let go. */
  stop(): void {
    this.#stopping.abort();
  }

  async #status(service: string): Promise<Serving> {
    if (this.#stopping.signal.aborted) return "NOT_SERVING";
    if (service !== "" && !this.#options.services.includes(service)) return "SERVICE_UNKNOWN";
    const { failed } = await this.#options.readiness();
    return failed.length === 0 ? "SERVING" : "NOT_SERVING";
  }

  /** `hungUp` is aborted whenever the stream is over. */
  async #watch(service: string, tell: (status: Serving) => Promise<void>, hungUp: AbortSignal): Promise<void> {
    if (this.#watchers >= MAX_WATCHERS) {
      throw new MillraceError("too_many", `${MAX_WATCHERS} watch the health of this gateway already: use Check`);
    }
    this.#watchers++;
    hungUp.addEventListener("abort", () => this.#watchers--, { once: true });
    for (let told: Serving | undefined; !hungUp.aborted; await this.#look()) {
      const status = await this.#status(service);
      if (status !== told) await tell((told = status));
      if (told === "NOT_SERVING" && this.#stopping.signal.aborted) {
        throw new MillraceError("unavailable", "this gateway is shutting down: connect again");
      }
    }
  }

  /** The time of the next look, the same for all watchers. */
  #look(): Promise<void> {
    const { signal } = this.#stopping;
    this.#nextLook ??= sleep(LOOK_EVERY_MS, undefined, { ref: false, signal })
      .catch(() => {})
      .finally(() => (this.#nextLook = undefined));
    return this.#nextLook;
  }
}
