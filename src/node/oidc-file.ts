/** Reads the file with the OpenID Connect providers, and the files with their secrets. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { problemsOf, problemText } from "../app/problems.ts";
import { oidcFile, type OidcProviderSettings } from "../app/oidc/provider-settings.ts";
import { MillraceError } from "../domain/errors.ts";

/**
 * The providers, none for null. Rejects with `malformed_request`, naming the file and never a secret, when a file cannot
 * be read or does not have the documented form.
 */
export async function readOidcFile(path: string | null): Promise<readonly OidcProviderSettings[]> {
  if (path === null) return [];
  const { providers } = parse(path, await read(path));
  return Promise.all(
    providers.map(async ({ clientSecretFile, ...provider }) => {
      if (clientSecretFile === undefined) return provider;
      const secret = (await read(resolve(dirname(path), clientSecretFile))).trim();
      if (secret === "") throw refused(clientSecretFile, "is empty");
      return { ...provider, clientSecret: secret };
    }),
  );
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw refused(path, `cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
}

function parse(path: string, text: string) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the parser quotes the text, which may hold a secret.
    throw refused(path, "is not JSON");
  }
  const result = oidcFile.safeParse(value, { reportInput: false });
  if (result.success) return result.data;
  const { problems } = problemsOf(result.error);
  throw refused(path, `has problems: ${problems.map(problemText).join("; ")}`);
}

function refused(path: string, why: string): MillraceError {
  return new MillraceError("malformed_request", `${path}, named by MILLRACE_OIDC_FILE, ${why}`);
}
