/** The login of a program without a browser of its own (RFC 8628). */
import type { Schemas } from "./api-types.ts";
import type { MillraceClient } from "./client.ts";
import type { LoginTokens } from "./credentials.ts";
import { isTemporary } from "./retries.ts";
import { wait } from "./waiting.ts";

type DeviceCode = Schemas["DeviceCode"];
type DeviceTokens = Schemas["DeviceTokens"];
type DeviceRefusal = Schemas["DeviceRefusal"];

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";
/** What RFC 8628 adds to the interval for a device that asks too often. */
const SLOWER_MS = 5_000;

/** The user or the server has ended the login. */
export class DeviceLoginError extends Error {
  override readonly name = "DeviceLoginError";
  readonly error: DeviceRefusal["error"];

  constructor({ error, error_description: description }: DeviceRefusal) {
    super(description);
    this.error = error;
  }
}

export interface DeviceLoginOptions {
  /** What the user sees as the program that asks, for example `laptop`. */
  readonly clientId: string;
  /** Shows the user where to confirm which code. */
  readonly onCode: (code: DeviceCode) => void;
  readonly signal?: AbortSignal;
}

/**
 * Resolves with the tokens once a user has confirmed the code. Rejects with {@link DeviceLoginError} when the user refuses
 * or the code expires.
 */
export async function logInByDevice(
  client: MillraceClient,
  { clientId, onCode, signal }: DeviceLoginOptions,
): Promise<LoginTokens> {
  const code = await post<DeviceCode>(client, "/auth/device/code", { client_id: clientId }, signal);
  if (!("device_code" in code)) throw new DeviceLoginError(code);
  onCode(code);
  const question = { grant_type: GRANT_TYPE, device_code: code.device_code, client_id: clientId };
  for (let pauseMs = code.interval * 1_000; ;) {
    await wait(pauseMs, signal);
    const answer = await post<DeviceTokens>(client, "/auth/device/token", question, signal).catch((error: unknown) => {
      if (!isTemporary(error)) throw error;
      return undefined;
    });
    if (answer === undefined) continue;
    if ("access_token" in answer) return tokensOf(answer);
    if (answer.error === "slow_down") pauseMs += SLOWER_MS;
    else if (answer.error !== "authorization_pending") throw new DeviceLoginError(answer);
  }
}

function tokensOf({ access_token, refresh_token, expires_in }: DeviceTokens): LoginTokens {
  return { accessToken: access_token, refreshToken: refresh_token, expiresAt: Date.now() + expires_in * 1_000 };
}

async function post<T>(
  client: MillraceClient,
  path: "/auth/device/code" | "/auth/device/token",
  form: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<T | DeviceRefusal> {
  const { body } = await client.transport.json({
    method: "POST",
    path,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
    isRepeatable: false,
    isAuthenticated: false,
    statuses: [400],
    signal,
  });
  return body as T | DeviceRefusal;
}
