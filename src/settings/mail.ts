/** The settings of the server that sends e-mails: their rows in the table of settings, and their checks. */
import { z } from "zod";
import type { Setting } from "./setting.ts";

export const MAIL_SETTING_ROWS = {
  MILLRACE_SMTP_URL: {
    group: "Telling others",
    standard: null,
    without: "no e-mail is sent",
    meaning:
      "The server that takes [e-mails](operations.md#e-mails): `smtps://mail.example.com` for TLS from the start (port 465), `smtp://mail.example.com` for STARTTLS (port 587). With a password, TLS is required, except on loopback. Of workers.",
  },
  MILLRACE_MAIL_FROM: {
    group: "Telling others",
    standard: null,
    without: "no e-mail is sent",
    meaning: "The sender, such as `millrace <ci@example.com>`. Required with `MILLRACE_SMTP_URL`.",
  },
  MILLRACE_SMTP_USER: {
    group: "Telling others",
    standard: null,
    without: "that of `MILLRACE_SMTP_URL`",
    meaning: "The user of the mail server.",
  },
  MILLRACE_SMTP_PASSWORD: {
    group: "Telling others",
    standard: null,
    without: "that of `MILLRACE_SMTP_URL`",
    meaning: "The password of that user; a secret.",
  },
} as const satisfies Record<string, Setting>;

const PORTS = { "smtp:": 587, "smtps:": 465 } as const;

interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly user: string | null;
  readonly password: string | null;
}

const serverAddress = z.string().transform((text, check): ServerAddress => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && isPlain(url)) {
    const { protocol, hostname, port, username, password } = url;
    return {
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: port === "" ? PORTS[protocol as keyof typeof PORTS] : Number(port),
      tls: protocol === "smtps:",
      user: username === "" ? null : decodeURIComponent(username),
      password: password === "" ? null : decodeURIComponent(password),
    };
  }
  check.addIssue("must be an address such as smtps://mail.example.com or smtp://mail.example.com:587");
  return z.NEVER;
});

function isPlain({ protocol, hostname, pathname, search, hash, username, password }: URL): boolean {
  const isEncoded = !/%(?![\da-f]{2})/i.test(username + password);
  const isServer = /^smtps?:$/.test(protocol) && hostname !== "" && isEncoded;
  return isServer && (pathname === "" || pathname === "/") && search === "" && hash === "";
}

const sender = z
  .string()
  .regex(
    /^(?:[^<>\r\n]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
    "must be an e-mail address, or a name with an address in angle brackets",
  );

export const MAIL_SETTINGS = {
  MILLRACE_SMTP_URL: serverAddress.optional(),
  MILLRACE_SMTP_USER: z.string().optional(),
  MILLRACE_SMTP_PASSWORD: z.string().optional(),
  MILLRACE_MAIL_FROM: sender.optional(),
} as const;

type Read = { readonly [Name in keyof typeof MAIL_SETTINGS]?: z.output<(typeof MAIL_SETTINGS)[Name]> | undefined };

export interface MailSettings extends ServerAddress {
  readonly from: string;
}

/** Null for a node that sends no e-mail. */
export function mailServer(read: Read): MailSettings | null {
  const { MILLRACE_SMTP_URL: server, MILLRACE_SMTP_USER, MILLRACE_SMTP_PASSWORD, MILLRACE_MAIL_FROM: from } = read;
  if (server === undefined || from === undefined) return null;
  const user = MILLRACE_SMTP_USER ?? server.user;
  return { ...server, user, password: MILLRACE_SMTP_PASSWORD ?? server.password, from };
}

/** Names of settings that the others need, and do not have. */
export function missingMailSettings(read: Read): readonly (keyof typeof MAIL_SETTINGS)[] {
  const names = Object.keys(MAIL_SETTINGS) as (keyof typeof MAIL_SETTINGS)[];
  if (names.every((name) => read[name] === undefined)) return [];
  return (["MILLRACE_SMTP_URL", "MILLRACE_MAIL_FROM"] as const).filter((name) => read[name] === undefined);
}
