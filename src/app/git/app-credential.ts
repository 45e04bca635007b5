/** The GitHub App that a secret of a pipeline names, for the repository that it is used with. */
import type { Remote } from "../../git/remote.ts";
import { isAppOf, readApp } from "../../providers/github-app.ts";
import type { AppUse } from "../../providers/installation-tokens.ts";
import { placeOf } from "../../providers/place.ts";
import type { ProviderName } from "../../providers/provider.ts";
import { malformed } from "./git-problems.ts";

/**
 * Throws `malformed_request` for a text that is no App, and for a repository that the App is not for: a proof of its key goes
 * to its own host alone. `field`: which one names the secret.
 */
export function appUseOf(
  remote: Remote,
  secret: string,
  field: "repoCredential" | "repoApiCredential" | "credential",
  provider: ProviderName = "github",
): AppUse {
  const app = readApp(secret);
  if (typeof app === "string") throw malformed(`/${field}`, `must name a secret with a GitHub App: ${app}`);
  const isOfApi = field === "repoApiCredential";
  if (provider !== "github") {
    throw malformed(`/${field}`, `must not name the secret of a GitHub App: this repository is at ${provider}`);
  }
  if (remote.transport === "ssh" && !isOfApi) {
    throw malformed(
      `/${field}`,
      "must not name the secret of a GitHub App for a repository over SSH: write its address with https://",
    );
  }
  const place = placeOf(remote, "github");
  if (typeof place === "string") throw malformed("/repoUrl", place);
  if (isAppOf(app, place)) return { app, place, isOfApi };
  throw malformed(
    `/${field}`,
    `must name a secret with a GitHub App of ${remote.host}: the App of this one is at ${app.host}`,
  );
}
