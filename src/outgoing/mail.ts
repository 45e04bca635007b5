/**
 * E-mails by the SMTP server of the operator. The operator names the server, so its address is not checked; users choose only
 * addresses of people and texts.
 */
import type { SendMailOptions, Transporter } from "nodemailer";
import { NoAnswerError, type ReceivedAnswer } from "./requests.ts";

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** True: TLS from the first byte. False: STARTTLS, which a server must offer before it is given a password. */
  readonly tls: boolean;
  /** Null for a server that asks for none. */
  readonly user: string | null;
  readonly password: string | null;
  /** The sender: an address, or a name with an address in angle brackets. */
  readonly from: string;
}

export interface OutgoingMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Always the same for the same mail, so that a receiver recognises a repeat. */
  readonly id: string;
}

/**
 * Answers what the server said: status 250 for a mail that it took, 500 and more for one that it refuses for good. Rejects
 * with a {@link NoAnswerError} when the same mail may be taken later. `signal` ends the wait for an answer.
 */
export type SendMail = (mail: OutgoingMail, signal: AbortSignal) => Promise<ReceivedAnswer>;

export interface MailSender {
  /** The host of the server. */
  readonly host: string;
  readonly send: SendMail;
  close(): void;
}

/** Connections at once. */
const CONNECTIONS = 4;
const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
const STOPPING = "this node is stopping";
const ADDRESS = /^[^\s@,;:<>"()[\]\\]+@[^\s@,;:<>"()[\]\\]+$/u;

/** Whether the text is one address and nothing else: no list, no name, no control characters. */
export function isMailAddress(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return text.length <= 254 && ADDRESS.test(text) && !/[\u0000-\u001f\u007f-\u009f]/.test(text);
}

/** The connections are kept for a while; `close` ends them. */
export function mailSender(server: SmtpServer): MailSender {
  let transport: Promise<Transporter> | undefined;
  return {
    host: server.host,
    async send(mail, signal) {
      if (signal.aborted) throw new NoAnswerError(STOPPING);
      if (!isMailAddress(mail.to)) return { status: 553, text: "this is not one e-mail address" };
      transport ??= openTransport(server);
      const sent = (await transport).sendMail(messageOf(server, mail)).then(
        ({ response }) => ({ status: 250, text: response ?? "" }),
        (error: unknown) => refusalOf(error),
      );
      return unlessAborted(sent, signal);
    },
    close() {
      void transport?.then((open) => open.close());
      transport = undefined;
    },
  };
}

/** Loaded with the first e-mail: most nodes send none. */
async function openTransport({ host, port, tls, user, password }: SmtpServer): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    pool: true,
    maxConnections: CONNECTIONS,
    host,
    port,
    secure: tls,
    requireTLS: !tls && user !== null && !isLoopback(host),
    ...(user !== null && { auth: { user, pass: password ?? "" } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    dnsTimeout: CONNECT_MS,
    logger: false,
  });
  return transport as unknown as Transporter;
}

function messageOf({ from, host }: SmtpServer, { to, subject, text, id }: OutgoingMail): SendMailOptions {
  const domain = /@([^\s@>]+)>?$/.exec(from)?.[1] ?? host;
  return {
    from,
    to: { name: "", address: to },
    subject,
    text,
    messageId: `<${id}@${domain}>`,
    headers: { "Auto-Submitted": "auto-generated" },
    // Users write the texts: no file and no address is read for them.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** A refusal for good is an answer; everything else may pass. */
function refusalOf(error: unknown): ReceivedAnswer {
  const { responseCode, response, command, message, code } = error as {
    readonly responseCode?: number;
    readonly response?: string;
    readonly command?: string;
    readonly message: string;
    readonly code?: string;
  };
  const isOfMail = command !== undefined && /^(?:MAIL FROM|RCPT TO|DATA)/.test(command);
  if (isOfMail && responseCode !== undefined && responseCode >= 500) {
    return { status: responseCode, text: response ?? message };
  }
  // What a server says to a login may repeat it.
  if (code === "EAUTH")
    throw new NoAnswerError("the mail server refuses the user or the password of this installation");
  const refused = "the mail server did not take it";
  throw new NoAnswerError(`${refused}: ${message}`, [refused, code, responseCode].filter(Boolean).join(" "));
}

function unlessAborted<T>(sent: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(new NoAnswerError(STOPPING));
    signal.addEventListener("abort", end, { once: true });
    void sent.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}
