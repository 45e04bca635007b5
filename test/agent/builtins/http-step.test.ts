/** The builtin `http` against servers of this machine: called directly, or on an agent where the step matters. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { BuiltinCall } from "../../../src/agent/builtins/builtin-call.ts";
import { sendRequest } from "../../../src/agent/builtins/http/http-step.ts";
import { SecretFinder } from "../../../src/agent/logs/secret-finder.ts";
import { until } from "../../support/until.ts";
import { AgentBench } from "../test-agent.ts";

const SECRET = "hunter2-and-more";

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface Called {
  readonly lines: readonly string[];
  readonly outputs: Readonly<Record<string, string>>;
  /** The reason of a failure; undefined on success. */
  readonly problem: string | undefined;
}

describe("the builtin `http`", () => {
  const ends: (() => unknown)[] = [];
  let seen: Seen[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });
  beforeEach(() => (seen = []));

  const listen = async (server: Server, scheme = "http"): Promise<string> => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ends.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  /** Starts a server that records each request and answers it by its path. */
  const serve = (answers: Readonly<Record<string, RequestListener>> = {}): Promise<string> =>
    listen(
      createServer((request, response) => {
        let body = "";
        request.setEncoding("utf8").on("data", (text: string) => (body += text));
        request.once("end", () => {
          const { method, url, headers } = request;
          seen.push({ method, url, headers, body });
          const answer = answers[url!.split("?")[0]!];
          if (answer === undefined) response.end("hello");
          else answer(request, response);
        });
      }),
    );
  const call = async (args: object, secrets: readonly string[] = [], signal = new AbortController().signal) => {
    const lines: string[] = [];
    const outputs: Record<string, string> = {};
    const step = { stepRunId: "step_1", token: 1n };
    const problem = await sendRequest({
      step,
      args: args as BuiltinCall["args"],
      workspace: "/",
      scratchDir: "/",
      gateway: undefined as never,
      say: (line) => void lines.push(line),
      sayAfterEnd: (line) => void lines.push(line),
      mask: (text) => new SecretFinder(secrets).mask(text),
      output: (name, value) => void (outputs[name] = value),
      whenJobSucceeded: () => {},
      signal,
    }).then(
      () => undefined,
      (error: Error) => error.message,
    );
    return { lines, outputs, problem } satisfies Called;
  };
  const redirect =
    (status: number, location: string): RequestListener =>
    (_, response) =>
      void response.writeHead(status, { location }).end("moved");

  it("gets an address, logs its status, and puts the answer into an output", async () => {
    const origin = await serve();
    const { lines, outputs, problem } = await call({ url: `${origin}/a/b?token=${SECRET}#part`, output: "answer" });
    expect(problem).to.equal(undefined);
    expect(lines).to.deep.equal([`GET ${origin}/a/b: 200`]);
    expect(outputs).to.deep.equal({ answer: "hello" });
    expect(seen[0]).to.include({ method: "GET", url: `/a/b?token=${SECRET}`, body: "" });
  });

  it("sends a text unchanged, anything else as JSON, and the given headers", async () => {
    const url = await serve();
    await call({ url, method: "POST", body: "a=b", headers: { "Content-Type": "text/plain", "X-Key": 7 } });
    await call({ url, method: "PUT", body: { a: [1, null] } });
    await call({ url, method: "PATCH", body: null, headers: { "content-type": "application/merge-patch+json" } });
    await call({ url, method: "HEAD" });
    expect(seen.map(({ method, body }) => `${method} ${body}`)).to.deep.equal([
      "POST a=b",
      'PUT {"a":[1,null]}',
      "PATCH null",
      "HEAD ",
    ]);
    expect(seen.map(({ headers }) => headers["content-type"])).to.deep.equal([
      "text/plain",
      "application/json",
      "application/merge-patch+json",
      undefined,
    ]);
    expect(seen[0]!.headers["x-key"]).to.equal("7");
  });

  it("fails for an unexpected status, with the start of the answer in one line", async () => {
    const origin = await serve({
      "/bad": (_, response) => void response.writeHead(422).end(`first\n\tsecond ${SECRET} ${"x".repeat(300)}`),
      "/made": (_, response) => void response.writeHead(201).end(),
      "/empty": (_, response) => void response.writeHead(500).end(),
    });
    const { problem, lines } = await call({ url: `${origin}/bad` }, [SECRET]);
    expect(problem).to.match(/^the answer has the status 422: first second \*\*\* x+\.\.\.$/);
    expect(problem).to.have.length(200 + "the answer has the status 422: ...".length);
    expect(lines).to.deep.equal([`GET ${origin}/bad: 422`]);
    expect((await call({ url: `${origin}/empty` })).problem).to.equal("the answer has the status 500 and no body");
    expect((await call({ url: `${origin}/made`, expectStatus: [200] })).problem).to.include("status 201");
    expect((await call({ url: `${origin}/bad`, expectStatus: [201, "422"] })).problem).to.equal(undefined);
  });

  it("masks a secret in the address, even one that reaches into the query", async () => {
    const origin = await serve();
    const whole = `${origin}/hooks/T1/B2?key=3`;
    expect((await call({ url: whole }, [whole])).lines).to.deep.equal(["GET ***: 200"]);
    expect((await call({ url: `${origin}/${SECRET}/x` }, [SECRET])).lines).to.deep.equal([`GET ${origin}/***/x: 200`]);
  });

  describe("when it is redirected", () => {
    it("follows five times and no more, and not where the status is expected", async () => {
      const origin = await serve({ "/1": redirect(302, "2"), "/2": redirect(307, "/3"), "/3": redirect(301, "/4") });
      const { lines, problem } = await call({ url: `${origin}/1` });
      expect(problem).to.equal(undefined);
      expect(lines.map((line) => line.slice(-6))).to.deep.equal(["1: 302", "2: 307", "3: 301", "4: 200"]);
      expect((await call({ url: `${origin}/1`, expectStatus: [302] })).lines).to.have.length(1);
      const loop = await serve({ "/": redirect(302, "/") });
      expect((await call({ url: loop })).problem).to.equal("the address redirects more than 5 times");
      expect(seen.filter(({ url }) => url === "/")).to.have.length(6);
    });

    it("repeats the body or changes to GET, as the status demands", async () => {
      const answers = [301, 302, 303, 307, 308].map((status) => [`/${status}`, redirect(status, "/there")] as const);
      const origin = await serve(Object.fromEntries(answers));
      for (const [path] of answers) await call({ url: origin + path, method: "POST", body: { a: 1 } });
      const there = seen.filter(({ url }) => url === "/there");
      expect(there.map(({ method, body }) => `${method} ${body}`)).to.deep.equal([
        "GET ",
        "GET ",
        "GET ",
        'POST {"a":1}',
        'POST {"a":1}',
      ]);
      expect(there.map(({ headers }) => headers["content-type"])).to.deep.equal([
        undefined,
        undefined,
        undefined,
        "application/json",
        "application/json",
      ]);
    });

    it("sends another host neither the body nor headers that may hold a secret", async () => {
      const other = await serve();
      const origin = await serve({ "/": redirect(302, `${other}/landed`), "/keep": redirect(307, `${other}/landed`) });
      const headers = { Authorization: `Bearer ${SECRET}`, Cookie: SECRET, "X-Api-Key": SECRET, Accept: "text/plain" };
      expect((await call({ url: origin, headers })).problem).to.equal(undefined);
      const landed = seen.find(({ url }) => url === "/landed")!;
      expect(landed.headers).to.include({ accept: "text/plain" });
      expect(JSON.stringify(landed.headers)).not.to.include(SECRET);
      const { problem } = await call({ url: `${origin}/keep`, method: "POST", body: SECRET });
      expect(problem).to.include("redirects the body to another host").and.not.include(SECRET);
      expect(seen.filter(({ url }) => url === "/landed")).to.have.length(1);
      const same = await serve({ "/": redirect(302, "/landed") });
      await call({ url: same, headers });
      expect(seen.at(-1)!.headers.authorization).to.equal(`Bearer ${SECRET}`);
    });

    it("does not follow to an address that is not http", async () => {
      const origin = await serve({ "/": redirect(302, "file:///etc/passwd") });
      expect((await call({ url: origin })).problem).to.equal("it redirects to an address that is not http or https");
    });
  });

  it("refuses an answer that cannot be an output, and reads at most a megabyte of it", async () => {
    let sent = 0;
    const origin = await serve({
      "/full": (_, response) => void response.end("x".repeat(65_536 - 1)),
      "/over": (_, response) => void response.end("x".repeat(65_536)),
      "/bytes": (_, response) => void response.end(Buffer.from([0xff, 0xfe])),
      "/endless": (_, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
          if (!response.destroyed) response.once("drain", more);
        };
        more();
      },
    });
    expect((await call({ url: `${origin}/full`, output: "a" })).outputs["a"]).to.have.length(65_535);
    expect((await call({ url: `${origin}/over`, output: "a" })).problem).to.include("longer than an output may be");
    expect((await call({ url: `${origin}/bytes`, output: "a" })).problem).to.include("no text in UTF-8");
    expect((await call({ url: `${origin}/endless` })).problem).to.equal(undefined);
    expect((await call({ url: `${origin}/endless`, output: "a" })).problem).to.include("longer than an output may be");
    expect(sent).to.be.lessThan(40_000_000);
  });

  describe("describes a failed request and its host", () => {
    it("when no server listens, the name is unknown, or the connection breaks", async () => {
      const url = await serve();
      await Promise.all(ends.splice(0).map((end) => end()));
      expect((await call({ url: `${url}/?a=${SECRET}` })).problem).to.equal(
        `the request to ${new URL(url).host} failed: nothing there accepts connections (ECONNREFUSED)`,
      );
      expect((await call({ url: "http://no-such-host.invalid/" })).problem).to.include("name cannot be resolved");
      const broken = createTcpServer((socket) => socket.once("data", () => socket.destroy())).listen(0, "127.0.0.1");
      await once(broken, "listening");
      ends.push(() => broken.close());
      const { port } = broken.address() as AddressInfo;
      expect((await call({ url: `http://127.0.0.1:${port}/` })).problem).to.include("the connection broke off");
      const half = await serve({
        "/": (_, response) => {
          response.writeHead(200, { "content-length": 100 }).write("half");
          setImmediate(() => response.destroy());
        },
      });
      expect((await call({ url: half })).problem).to.include("the connection broke off");
    });

    it("when its certificate is not trusted, or it does not speak TLS", async () => {
      const folder = await mkdtemp(join(tmpdir(), "millrace-tls-"));
      ends.push(() => rm(folder, { recursive: true }));
      const [key, cert] = [join(folder, "key"), join(folder, "cert")];
      const make = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"];
      execFileSync("openssl", [...make, "-keyout", key, "-out", cert], { stdio: "ignore" });
      const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) =>
        response.end(),
      );
      const secure = await listen(server as unknown as Server, "https");
      expect((await call({ url: secure })).problem).to.include("certificate is not trusted by this agent");
      const plain = await serve();
      expect((await call({ url: plain.replace("http:", "https:") })).problem).to.include(
        "no TLS connection can be made",
      );
    });
  });

  it("refuses arguments that it cannot send, and shows none of their values", async () => {
    const url = "http://127.0.0.1:1/";
    const wrong: readonly (readonly [args: object, text: string])[] = [
      [{}, "an http or https address as url"],
      [{ url: `ftp://host/${SECRET}` }, "an http or https address as url"],
      [{ url: `http://me:${SECRET}@host/` }, "no name and password in its url"],
      [{ url, method: "TRACE" }, "as method"],
      [{ url, body: SECRET }, "sends no body with GET"],
      [{ url, headers: { "X-A": `${SECRET}\nX-B: 1` } }, 'cannot send the header "X-A"'],
      [{ url, headers: { "a b": SECRET } }, 'cannot send the header "a b"'],
      [{ url, headers: { a: [SECRET] } }, 'a text as header "a"'],
      [{ url, headers: SECRET }, "a map as headers"],
      [{ url, expectStatus: [99] }, "a list of status codes"],
      [{ url, expectStatus: "200" }, "a list of status codes"],
      [{ url, output: "a b" }, "the name of an output"],
      [{ url, output: "__proto__" }, "the name of an output"],
      [{ url, follow: false }, 'does not know "follow"'],
    ];
    for (const [args, text] of wrong) {
      const { problem } = await call(args);
      expect(problem, JSON.stringify(args)).to.include(text);
      expect(problem).not.to.include(SECRET);
    }
  });

  describe("as a step", () => {
    let bench: AgentBench;
    beforeEach(async () => {
      bench = await new AgentBench().open();
      await bench.start();
    });
    afterEach(() => bench.end());
    const start = (args: object, more: object = {}) =>
      bench.gateway.dispatch({ uses: "http@v1", argsJson: JSON.stringify(args), ...more });

    it("reports its output, and logs its lines", async () => {
      const url = await serve();
      start({ url, output: "answer" });
      const end = await bench.gateway.endOf();
      expect(end).to.include({ phase: "STEP_PHASE_SUCCEEDED", exitCode: -1, reason: "" });
      expect(end.outputs).to.deep.equal({ answer: "hello" });
      const log = await bench.gateway.logOf(end.lastLine);
      expect(log.map(({ content }) => content)).to.deep.equal([`millrace: GET ${url}: 200`]);
    });

    it("is reported as failed with its reason", async () => {
      const url = await serve({ "/": (_, response) => void response.writeHead(404).end("not here") });
      start({ url });
      expect(await bench.gateway.endOf()).to.include({
        phase: "STEP_PHASE_FAILED",
        reason: "the answer has the status 404: not here",
      });
    });

    it("ends when it is cancelled or times out, even during an answer", async () => {
      const closed: string[] = [];
      const hang: RequestListener = ({ url }, response) => void response.once("close", () => closed.push(url!));
      const origin = await serve({
        "/silent": hang,
        "/started": (request, response) => {
          hang(request, response);
          response.write("some");
        },
      });
      start({ url: `${origin}/silent` });
      await until("the request", () => seen.length === 1);
      bench.gateway.send({
        $case: "revoke",
        value: { jobId: "job_1", stepRunId: "step_1", token: 1n, reason: "the run was stopped", graceMs: 10_000n },
      });
      expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_CANCELLED", reason: "the run was stopped" });
      start({ url: `${origin}/started` }, { stepRunId: "step_2", timeoutMs: 200n });
      expect(await bench.gateway.endOf("step_2")).to.include({ phase: "STEP_PHASE_TIMED_OUT" });
      await until("the end of both connections", () => closed.length === 2);
    });
  });
});
