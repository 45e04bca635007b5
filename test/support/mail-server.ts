/** A mail server: a real SMTP server that remembers what it takes. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** With its headers, as it came. */
  readonly source: string;
  readonly user: string | null;
  readonly secure: boolean;
}

export interface TestMailServer {
  readonly host: string;
  readonly port: number;
  readonly received: ReceivedMail[];
  /** The status with which an address is refused; undefined for one that is taken. */
  refuse: (address: string) => number | undefined;
  close(): Promise<void>;
}

/** With `login`, it asks for this user and password, over TLS alone unless `overPlain`. `tls`: its key and certificate. */
export async function startMailServer({
  login,
  tls,
  overPlain = false,
}: {
  readonly login?: { readonly user: string; readonly password: string };
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly overPlain?: boolean;
} = {}): Promise<TestMailServer> {
  const refusal = (status: number): Error => Object.assign(new Error("not here"), { responseCode: status });
  const smtp = new SMTPServer({
    ...tls,
    hideSTARTTLS: tls === undefined,
    authOptional: login === undefined,
    allowInsecureAuth: overPlain,
    logger: false,
    onAuth({ username, password }, _session, answer) {
      if (username === login?.user && password === login?.password) answer(null, { user: username! });
      else answer(new Error(`no such user: ${username} ${password}`));
    },
    onRcptTo({ address }, _session, answer) {
      const status = server.refuse(address);
      answer(status === undefined ? null : refusal(status));
    },
    onData(stream, session, answer) {
      const pieces: Buffer[] = [];
      stream.on("data", (piece: Buffer) => pieces.push(piece));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        server.received.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source: Buffer.concat(pieces).toString("utf8"),
          user: (session.user as string | undefined) ?? null,
          secure: session.secure,
        });
        answer(null);
      });
    },
  });
  smtp.on("error", () => {});
  const listening = smtp.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const server: TestMailServer = {
    host: "127.0.0.1",
    port: (listening.address() as AddressInfo).port,
    received: [],
    refuse: () => undefined,
    close: () => new Promise((resolve) => smtp.close(() => resolve())),
  };
  return server;
}
