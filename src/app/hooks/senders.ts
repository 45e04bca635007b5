/**
 * What the requests of each kind of sender look like: where they name the delivery and the event, and how they prove that they
 * are from the sender. The kind of the hook decides; headers of another kind count nothing. Pure.
 * Sources: docs/hooks.md names the page of each sender.
 */
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { HookHeaders, HookKind } from "../../hook-events/words.ts";
import type { Hook } from "../../stores/hooks/hook-store.ts";

interface Sender {
  /** The header with the id of the delivery, which is the same in a repeat. */
  readonly id: string;
  /** The header with the word for the event. */
  readonly event: string;
  /** The header with the signature, and what stands in it before the hexadecimal digits. */
  readonly signature: { readonly header: string; readonly prefix: string };
}

const SENDERS: Readonly<Record<HookKind, Sender>> = {
  github: {
    id: "x-github-delivery",
    event: "x-github-event",
    signature: { header: "x-hub-signature-256", prefix: "sha256=" },
  },
  // Signs as standard webhooks, or sends its token.
  gitlab: { id: "idempotency-key", event: "x-gitlab-event", signature: { header: "", prefix: "" } },
  gitea: { id: "x-gitea-delivery", event: "x-gitea-event", signature: { header: "x-gitea-signature", prefix: "" } },
  forgejo: {
    id: "x-forgejo-delivery",
    event: "x-forgejo-event",
    signature: { header: "x-forgejo-signature", prefix: "" },
  },
  bitbucket: {
    id: "x-request-uuid",
    event: "x-event-key",
    signature: { header: "x-hub-signature", prefix: "sha256=" },
  },
  generic: {
    id: "idempotency-key",
    event: "x-millrace-event",
    signature: { header: "x-hub-signature-256", prefix: "sha256=" },
  },
};

const STANDARD_ID = "webhook-id";
const STANDARD_SECRET = "whsec_";
/** How far the time of a signature may be from ours, seconds. Source: https://www.standardwebhooks.com */
const STANDARD_SECONDS = 300;
const ID_CHARS = 200;
const EVENT_CHARS = 100;
const HEADERS = 64;
const HEADER_CHARS = 500;
const SECRET_HEADER = /token|secret|authorization|cookie|password|signature|api-?key/;

/** The header that names the delivery. */
export function idHeaderOf({ kind, proof }: Pick<Hook, "kind" | "proof">): string {
  return proof === "standard" ? STANDARD_ID : SENDERS[kind].id;
}

/** The sender's id of the delivery; undefined when the request names none, or one that is too long. */
export function senderIdOf(hook: Pick<Hook, "kind" | "proof">, headers: IncomingHttpHeaders): string | undefined {
  const id = textOf(headers, idHeaderOf(hook));
  return id === "" || id.length > ID_CHARS ? undefined : id;
}

/** The header in which senders of this kind name the event. */
export function eventHeaderOf(kind: HookKind): string {
  return SENDERS[kind].event;
}

export function eventWordOf({ kind }: Pick<Hook, "kind">, headers: IncomingHttpHeaders): string {
  return textOf(headers, eventHeaderOf(kind)).slice(0, EVENT_CHARS);
}

/** Why the request is not proved to be from the sender; undefined for one that is. `nowMs`: Unix milliseconds. */
export function proofProblem(
  { kind, proof }: Pick<Hook, "kind" | "proof">,
  secret: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  nowMs: number,
): string | undefined {
  switch (proof) {
    case "none":
      return undefined;
    case "token": {
      const header = kind === "gitlab" ? "x-gitlab-token" : "authorization";
      const given = textOf(headers, header);
      const token = kind === "gitlab" ? given : (/^bearer (.+)$/i.exec(given)?.[1] ?? "");
      if (token === "") return `the header ${header} with the secret is missing`;
      // The digests have the same length, whatever the tokens have.
      const isSame = timingSafeEqual(hash("sha256", token, "buffer"), hash("sha256", secret, "buffer"));
      return isSame ? undefined : `the secret in the header ${header} is wrong`;
    }
    case "signature": {
      const { header, prefix } = SENDERS[kind].signature;
      const given = textOf(headers, header);
      if (given === "") return `the header ${header} with the signature is missing`;
      const digits = given.startsWith(prefix) ? given.slice(prefix.length) : "";
      const expected = createHmac("sha256", secret).update(body).digest();
      const isSame = /^[0-9a-f]{64}$/i.test(digits) && timingSafeEqual(Buffer.from(digits, "hex"), expected);
      return isSame ? undefined : `the signature in the header ${header} does not match the body and the secret`;
    }
    case "standard":
      return standardProblem(secret, headers, body, nowMs);
  }
}

/** The headers that are kept with a delivery, without the values of those that may hold a secret. */
export function keptHeaders(headers: IncomingHttpHeaders): HookHeaders {
  return Object.keys(headers)
    .slice(0, HEADERS)
    .map((name) => [
      name.slice(0, HEADER_CHARS),
      SECRET_HEADER.test(name) ? "***" : textOf(headers, name).slice(0, HEADER_CHARS),
    ]);
}

function standardProblem(
  secret: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  nowMs: number,
): string | undefined {
  const [id, seconds] = [textOf(headers, STANDARD_ID), textOf(headers, "webhook-timestamp")];
  const given = textOf(headers, "webhook-signature");
  if (given === "") return "the header webhook-signature is missing";
  if (!/^\d{1,12}$/.test(seconds)) return "the header webhook-timestamp must have Unix seconds";
  if (Math.abs(Number(seconds) - nowMs / 1_000) > STANDARD_SECONDS) {
    return `the header webhook-timestamp is more than ${STANDARD_SECONDS} s away from now`;
  }
  const key = secret.startsWith(STANDARD_SECRET)
    ? Buffer.from(secret.slice(STANDARD_SECRET.length), "base64")
    : Buffer.from(secret);
  const expected = createHmac("sha256", key).update(`${id}.${seconds}.`).update(body).digest();
  const isSame = given.split(" ").some((one) => {
    const [version, text = ""] = one.split(",", 2);
    const signature = Buffer.from(text, "base64");
    return version === "v1" && signature.length === expected.length && timingSafeEqual(signature, expected);
  });
  return isSame ? undefined : "no signature in the header webhook-signature matches the body and the secret";
}

function textOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name] ?? "";
  return Array.isArray(value) ? value.join(", ") : value;
}
