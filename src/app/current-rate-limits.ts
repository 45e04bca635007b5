/** The limits on calls that count now: those of the environment, or else of the settings of the installation. */
import { NO_RATE_LIMITS, type RateLimits } from "../domain/quotas.ts";
import type { OwnedDocument } from "../stores/ports/documents.ts";
import { effectiveSetting, type EnvironmentSettings } from "./effective-settings.ts";
import { type PolledOptions, PolledSettings } from "./polled-settings.ts";

type Options = Pick<PolledOptions<RateLimits>, "documents" | "log"> & {
  readonly environment: Pick<EnvironmentSettings, "rateLimits" | "given">;
};

export class CurrentRateLimits extends PolledSettings<RateLimits> {
  constructor({ environment, ...options }: Options) {
    const derive = (documents: readonly OwnedDocument<"settings">[]): RateLimits => {
      const installation = documents.find(({ owner }) => owner === "installation")?.body.values ?? {};
      const layers = { project: {}, tenant: {}, installation };
      const of = (key: "calls.perToken" | "calls.perAddress") => effectiveSetting(key, layers, environment).value;
      return { token: of("calls.perToken") || null, address: of("calls.perAddress") || null };
    };
    super({ ...options, what: "the limits on calls", initial: environment.rateLimits ?? NO_RATE_LIMITS, derive });
  }
}
