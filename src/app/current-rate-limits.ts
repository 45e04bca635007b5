/** The limits on calls that count now: those of the environment, or else of the settings of the installation. */
import type { RateLimits } from "../domain/quotas.ts";
import { effectiveSetting, type EnvironmentSettings } from "./effective-settings.ts";
import type { PolledSettings, SettingDocuments } from "./polled-settings.ts";

type Environment = Pick<EnvironmentSettings, "given"> & { readonly rateLimits: RateLimits };

export function currentRateLimits(settings: PolledSettings, environment: Environment): () => RateLimits {
  return settings.follow(environment.rateLimits, (documents) => limitsOf(environment, documents));
}

function limitsOf(environment: Environment, documents: SettingDocuments): RateLimits {
  const installation = documents.find(({ owner }) => owner === "installation")?.body.values ?? {};
  const layers = { project: {}, tenant: {}, installation };
  const of = (key: "calls.perToken" | "calls.perAddress") => effectiveSetting(key, layers, environment).value;
  return { token: of("calls.perToken") || null, address: of("calls.perAddress") || null };
}
