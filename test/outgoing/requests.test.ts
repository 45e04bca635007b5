import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { addressRule } from "../../src/outgoing/addresses.ts";
import { type LookUpAll, NoAnswerError, requestSender, shownAddress } from "../../src/outgoing/requests.ts";

describe("the addresses that requests may reach", () => {
  const mayReach = addressRule([]);

  it("are those of the public internet", () => {
    for (const address of ["8.8.8.8", "172.32.0.1", "192.169.0.1", "2606:4700::1111", "2a00:1450::1"])
      expect(mayReach(address), address).to.equal(true);
  });

  it("are no private, loopback, link-local, shared, multicast or reserved ones, however they are written", () => {
    for (const address of [
      "127.0.0.1",
      "127.9.9.9",
      "10.1.2.3",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "169.254.169.254",
      "0.0.0.0",
      "100.64.0.1",
      "224.0.0.1",
      "255.255.255.255",
      "198.18.0.1",
      "192.0.2.1",
      "203.0.113.9",
      "::",
      "::1",
      "fe80::1",
      "fe80::1%eth0",
      "fc00::1",
      "fd12::1",
      "ff02::1",
      "fec0::1",
      "2001:db8::1",
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      "::ffff:a00:1",
      "0:0:0:0:0:ffff:c0a8:101",
      "::127.0.0.1",
      // Tunnels and translations that lead to addresses of IPv4.
      "64:ff9b::7f00:1",
      "64:ff9b:1::1",
      "2002:7f00:1::",
      "2001::1",
      "",
      "localhost",
      "1.2.3",
    ]) {
      expect(mayReach(address), address).to.equal(false);
    }
  });

  it("are also those of the networks that the operator allows", () => {
    const allowed = addressRule([
      { address: "10.1.0.0", bits: 16 },
      { address: "fd00::", bits: 16 },
    ]);
    for (const address of ["10.1.255.1", "::ffff:10.1.0.1", "fd00::5", "8.8.8.8"])
      expect(allowed(address), address).to.equal(true);
    for (const address of ["10.2.0.1", "127.0.0.1", "fd01::5"]) expect(allowed(address), address).to.equal(false);
  });
});

describe("a request to a receiver", () => {
  let server: Server;
  let port: number;
  let handle: (request: IncomingMessage, response: ServerResponse) => void;
  before(async () => {
    server = createServer((request, response) => handle(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  });
  after(() => void server.close());

  const { signal } = new AbortController();
  const local = addressRule([{ address: "127.0.0.1", bits: 32 }]);
  const sendTo = (url: string, send = requestSender(local)) =>
    send({ url, headers: { "x-a": "b" }, body: "é" }, signal);
  const failure = async (answer: Promise<unknown>): Promise<string> => {
    const error = await answer.then(
      () => undefined,
      (caught: unknown) => caught,
    );
    expect(error).to.be.instanceOf(NoAnswerError);
    return (error as Error).message;
  };

  it("brings its body and headers, and gets the beginning of the answer", async () => {
    let seen: unknown;
    handle = (request, response) => {
      let body = "";
      request.setEncoding("utf8");
      request.on("data", (piece: string) => (body += piece));
      request.on("end", () => {
        const { method, url, headers } = request;
        seen = { method, url, a: headers["x-a"], auth: headers.authorization, length: headers["content-length"], body };
        response.writeHead(202);
        // An answer without an end: only its beginning is read.
        const more = setInterval(() => response.write("x".repeat(4_096)), 1);
        response.once("close", () => clearInterval(more));
      });
    };
    const answer = await sendTo(`http://u:p%20w@127.0.0.1:${port}/path?q=1`);
    expect(answer.status).to.equal(202);
    expect(answer.text).to.equal("x".repeat(16_384));
    const auth = `Basic ${Buffer.from("u:p w").toString("base64")}`;
    expect(seen).to.deep.equal({ method: "POST", url: "/path?q=1", a: "b", auth, length: "2", body: "é" });
  });

  it("is not sent to a refused address, written out or behind a name", async () => {
    handle = () => expect.fail("the request was sent");
    const strict = requestSender(addressRule([]));
    for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "localhost"])
      expect(await failure(sendTo(`http://${host}:${port}/`, strict)), host).to.include("not on the public internet");
  });

  it("goes to the checked addresses of a name alone, also when the name changes", async () => {
    handle = (_, response) => response.end("here");
    let looks = 0;
    // The first look finds the receiver and a refused address, each later one the refused address alone.
    const lookUp: LookUpAll = (_, __, answer) => {
      const refused = { address: "127.0.0.2", family: 4 };
      answer(null, looks++ === 0 ? [refused, { address: "127.0.0.1", family: 4 }] : [refused]);
    };
    const send = requestSender(local, { lookUp });
    expect(await sendTo(`http://hooks.example:${port}/`, send)).to.deep.equal({ status: 200, text: "here" });
    expect(looks).to.equal(1);
    expect(await failure(sendTo(`http://hooks.example:${port}/`, send))).to.include(
      "hooks.example is not on the public",
    );
  });

  it("does not follow a redirect", async () => {
    let calls = 0;
    handle = (_, response) => {
      calls++;
      response.writeHead(302, { location: `http://127.0.0.1:${port}/other` }).end();
    };
    expect((await sendTo(`http://127.0.0.1:${port}/`)).status).to.equal(302);
    expect(calls).to.equal(1);
  });

  it("fails without an answer in time, on a closed connection, at no address, and when it is ended", async () => {
    handle = () => {};
    expect(await failure(sendTo(`http://127.0.0.1:${port}/`, requestSender(local, { timeoutMs: 20 })))).to.include(
      "no answer within 0.02 s",
    );
    handle = (request) => request.socket.destroy();
    expect(await failure(sendTo(`http://127.0.0.1:${port}/`))).to.include("ECONNRESET");
    for (const url of ["ftp://127.0.0.1/", "nothing", "http://"])
      expect(await failure(sendTo(url)), url).to.include("not an http or https address");
    const over = new AbortController();
    handle = () => over.abort();
    await failure(requestSender(local)({ url: `http://127.0.0.1:${port}/`, headers: {}, body: "" }, over.signal));
  });

  it("is shown without what may be a secret", () => {
    expect(shownAddress("https://u:p@a.example:8443/hook?token=t#f")).to.equal("https://a.example:8443/hook?...");
    expect(shownAddress("https://a.example")).to.equal("https://a.example/");
  });
});
