/** Reads the file with the OpenID Connect providers, and the files with their secrets. */
import { dirname, resolve } from "node:path";
import { oidcFile, type OidcProviderSettings } from "../app/oidc/provider-settings.ts";
import { readSettingsFile, readTextFile, refusedFile } from "./settings-file.ts";

const VARIABLE = "MILLRACE_OIDC_FILE";

/**
 * The providers, none for null. Rejects with `malformed_request`, naming the file and never a secret, when a file cannot
 * be read or does not have the documented form.
 */
export async function readOidcFile(path: string | null): Promise<readonly OidcProviderSettings[]> {
  if (path === null) return [];
  const { providers } = await readSettingsFile(path, VARIABLE, oidcFile);
  return Promise.all(
    providers.map(async ({ clientSecretFile, ...provider }) => {
      if (clientSecretFile === undefined) return provider;
      const secret = (await readTextFile(resolve(dirname(path), clientSecretFile), VARIABLE)).trim();
      if (secret === "") throw refusedFile(clientSecretFile, VARIABLE, "is empty");
      return { ...provider, clientSecret: secret };
    }),
  );
}
