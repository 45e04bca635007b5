/** Accepts an invitation or a reset link as a browser would: sends the form of its page, and ends the browser's session. */
import type { MillraceClient } from "../../../clients/typescript/src/index.ts";
import { CommandFailure, UsageError } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";
import { visible } from "./visible.ts";

const TIMEOUT_MS = 30_000;

export interface PasswordLink {
  /** The server that made the link. */
  readonly url: string;
  readonly kind: "invitation" | "reset";
  readonly secret: string;
}

/** Throws a UsageError for a text that is no such link. */
export function parsePasswordLink(text: string): PasswordLink {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const [, base, kind] = /^(.*)\/(invitation|reset)$/.exec(url?.pathname ?? "") ?? [];
  const secret = url?.searchParams.get("token") ?? "";
  if (url === undefined || kind === undefined || secret === "" || !/^https?:$/.test(url.protocol)) {
    throw new UsageError("--link must be the whole link, such as https://ci.example/invitation?token=...");
  }
  return { url: url.origin + base, kind: kind as PasswordLink["kind"], secret };
}

/** Sets the password of the link's user, and resolves with the user's name. */
export async function setPasswordByLink(
  client: MillraceClient,
  { url, kind, secret }: PasswordLink,
  password: string,
  signal: AbortSignal,
): Promise<string> {
  // Forms are taken only from pages of the server itself.
  const origin = new URL(url).origin;
  const response = await fetch(`${url}/${kind}`, {
    method: "POST",
    headers: { origin, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ token: secret, password }).toString(),
    redirect: "manual",
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    const next = "check the address of the link, and that the server runs";
    throw new CommandFailure(`${new URL(url).host} does not answer`, EXIT.unavailable, {
      next,
      machine: { cause: String(error) },
    });
  });
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0]!)
    .join("; ");
  const page = await response.text();
  if (response.status >= 400 || cookie === "") {
    // The page ends with the next step, which has a line of its own here.
    const said = alertOf(page)?.replace(/: ask an administrator .*$/, "");
    throw new CommandFailure(visible(said ?? `${new URL(url).host} did not accept the link`), EXIT.failure, {
      next: response.status === 400 ? "choose another password" : "ask an administrator for a new link",
    });
  }
  const call = { isRepeatable: false, isAuthenticated: false, headers: { cookie, origin }, signal };
  const { body } = await client.transport.json({ ...call, method: "GET", path: "/whoami" });
  await client.transport.json({ ...call, method: "POST", path: "/auth/logout" });
  return (body as { readonly detail: { readonly user: { readonly name: string } } }).detail.user.name;
}

/** What a page of the server says is wrong. */
function alertOf(page: string): string | undefined {
  const [, text] = /<p role="alert">([^<]{1,1000})<\/p>/.exec(page) ?? [];
  const named = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'" } as const;
  return text?.replace(/&(lt|gt|amp|quot|#39);/g, (_, name: keyof typeof named) => named[name]);
}
