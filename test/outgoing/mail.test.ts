/** E-mails to a real SMTP server. */
import { expect } from "chai";
import { isMailAddress, type MailSender, mailSender, type SmtpServer } from "../../src/outgoing/mail.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";

const MAIL = { to: "ada@mail.example", subject: "Wörter", text: "eins\n.\nzwei", id: "msg_1" };
const NEVER = new AbortController().signal;

describe("an e-mail", () => {
  let server: TestMailServer;
  const senders: MailSender[] = [];
  before(async () => (server = await startMailServer({ login: { user: "ci", password: "s3same" }, overPlain: true })));
  after(async () => {
    for (const sender of senders) sender.close();
    await server.close();
  });
  beforeEach(() => {
    server.received.length = 0;
    server.refuse = () => undefined;
  });

  function senderWith(fields: Partial<SmtpServer> = {}): MailSender {
    const { host, port } = server;
    const from = "millrace <ci@mail.example>";
    const sender = mailSender({ host, port, tls: false, user: "ci", password: "s3same", from, ...fields });
    senders.push(sender);
    return sender;
  }

  it("goes to one address with its texts and a stable id", async () => {
    const sender = senderWith();
    for (let time = 1; time <= 2; time++) expect((await sender.send(MAIL, NEVER)).status).to.equal(250);
    const [first, again] = server.received;
    expect(first).to.deep.include({ from: "ci@mail.example", to: ["ada@mail.example"], user: "ci" });
    expect(first!.source).to.include("From: millrace <ci@mail.example>");
    expect(first!.source)
      .to.include("Message-ID: <msg_1@mail.example>")
      .and.to.include("Auto-Submitted: auto-generated");
    expect(first!.source).to.include("=?UTF-8?").and.to.include("eins\r\n..\r\nzwei".replace("..", "."));
    expect(again!.source).to.include("Message-ID: <msg_1@mail.example>");
  });

  it("has no header that a text or an address brings", async () => {
    const sender = senderWith();
    await sender.send({ ...MAIL, subject: "one\r\nBcc: eve@mail.example\r\n\r\ntwo" }, NEVER);
    expect(server.received[0]).to.deep.include({ to: ["ada@mail.example"] });
    expect(server.received[0]!.source).not.to.match(/^Bcc:/im);
    for (const to of ["a@b\r\nBcc: eve@mail.example", "a@b, c@d", "<a@b>", "Ada <a@b>", "a b@c", "a@b;c@d", "a"]) {
      expect(isMailAddress(to), to).to.equal(false);
      expect((await sender.send({ ...MAIL, to }, NEVER)).status, to).to.equal(553);
    }
    expect(server.received).to.have.length(1);
  });

  it("that the server refuses for good is not one that it may take later", async () => {
    const sender = senderWith();
    server.refuse = () => 550;
    expect((await sender.send(MAIL, NEVER)).status).to.equal(550);
    server.refuse = () => 450;
    expect(await failure(sender.send(MAIL, NEVER))).to.include("the mail server did not take it");
  });

  it("that cannot be sent says why, without the password", async () => {
    const words = await failure(senderWith({ password: "wr0ng-pass" }).send(MAIL, NEVER));
    expect(words).to.equal("the mail server refuses the user or the password of this installation");
    expect(await failure(senderWith({ port: 9 }).send(MAIL, NEVER))).to.include("ECONNREFUSED");
    const over = new AbortController();
    over.abort();
    expect(await failure(senderWith().send(MAIL, over.signal))).to.equal("this node is stopping");
  });

  it("brings its password over TLS to servers with a valid certificate alone, except on this machine", async () => {
    // `127.0.0.1` has other spellings, which count as another machine.
    const words = await failure(senderWith({ host: "0x7f.1" }).send(MAIL, NEVER));
    expect(words).to.include("certificate");
    expect(server.received).to.have.length(0);
  });

  async function failure(sent: Promise<unknown>): Promise<string> {
    try {
      await sent;
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error("it was sent");
  }
});
