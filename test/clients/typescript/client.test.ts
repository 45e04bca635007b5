import { expect } from "chai";
import { gzipSync } from "node:zlib";
import {
  AnswerTooLargeError,
  ApiError,
  ConnectionError,
  ForeignAnswerError,
  type LoginTokens,
  MillraceClient,
  RefreshingCredentials,
  type RetryNotice,
} from "../../../clients/typescript/src/index.ts";
import { refuse, ScriptedServer, succeed } from "../../support/scripted-server.ts";

const TRIGGER = "/pipelines/{pipelineId}/trigger";
const BEGUN = { runId: "run_1", pipelineId: "pl_1", status: "pending", statusCode: 1 };

describe("the client", () => {
  let server: ScriptedServer;
  let notices: RetryNotice[];
  beforeEach(async () => {
    server = await ScriptedServer.start();
    notices = [];
  });
  afterEach(() => server.close());

  const client = (options: Partial<ConstructorParameters<typeof MillraceClient>[0]> = {}) =>
    new MillraceClient({
      baseUrl: server.url,
      credentials: "secret-token",
      onRetry: (n) => notices.push(n),
      ...options,
    });
  /** The error that a call rejects with. */
  async function errorOf(call: Promise<unknown>): Promise<unknown> {
    return call.then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  it("sends the token, the query and the body, and answers the detail", async () => {
    server.answer = (_, response) => succeed(response, { list: [], total: 0, page: 2, pageSize: 5 });
    const query = { page: 2, name: "a&b", status: undefined };
    expect(await client().get("/pipelines", { query })).to.deep.equal({ list: [], total: 0, page: 2, pageSize: 5 });
    const [call] = server.calls;
    expect(call!.url).to.equal("/api/v1/pipelines?page=2&name=a%26b");
    expect(call!.headers.authorization).to.equal("Bearer secret-token");
  });

  it("makes an Idempotency-Key of its own, and repeats the call with the same one", async () => {
    server.answer = (_, response) => {
      if (server.calls.length === 1) response.destroy();
      else if (server.calls.length === 2) refuse(response, 503, "unavailable", { "retry-after": "0" });
      else succeed(response, BEGUN);
    };
    const begun = await client().post(TRIGGER, { path: { pipelineId: "pl_1" }, body: { variables: { a: "b" } } });
    expect(begun).to.deep.equal(BEGUN);
    const keys = server.calls.map(({ headers }) => headers["idempotency-key"]);
    expect(keys[0]).to.match(/^[0-9a-f]{32}$/);
    expect(new Set(keys).size).to.equal(1);
    await client().post(TRIGGER, { path: { pipelineId: "pl_1" } });
    expect(server.calls.at(-1)!.headers["idempotency-key"], "another call").not.to.equal(keys[0]);
    await client().post(TRIGGER, { path: { pipelineId: "pl_1" }, body: { requestId: "mine" } });
    expect(server.calls.at(-1)!.headers["idempotency-key"], "as in the body").to.equal("mine");
  });

  it("does not repeat a call that may have been performed and has no key", async () => {
    const call = { path: { userId: "usr_1" }, body: { days: 1 } };
    expect(await errorOf(client().post("/users/{userId}/reset-link", call))).to.be.instanceOf(ConnectionError);
    expect(server.calls).to.have.length(1);
    const change = { path: { projectId: "p" }, body: { archived: true }, ifMatch: '"1"' };
    expect(await errorOf(client().patch("/projects/{projectId}", change))).to.be.instanceOf(ConnectionError);
    expect(server.calls).to.have.length(2);
    expect(server.calls[1]!.headers["if-match"]).to.equal('"1"');
  });

  it("repeats every call that was refused for now, as 429 says, and no sooner than asked", async () => {
    server.answer = (_, response) => {
      if (server.calls.length === 1) refuse(response, 429, "too_many", { "retry-after": "1" });
      else succeed(response, { tokenId: "tok_1", token: "t", name: "laptop", scopes: [] });
    };
    await client().post("/users/{userId}/tokens", { path: { userId: "me" }, body: { name: "laptop" } });
    expect(notices.map(({ delayMs, attempt }) => [delayMs, attempt])).to.deep.equal([[1_000, 1]]);
  });

  it("gives up when the server asks to wait for longer than the client may", async () => {
    server.answer = (_, response) => refuse(response, 429, "too_many", { "retry-after": "3600" });
    const error = await errorOf(client().get("/agents"));
    expect(error).to.be.instanceOf(ApiError);
    expect(error).to.include({ code: 429, reason: "too_many", requestId: "req-1", retryAfterMs: 3_600_000 });
    expect(server.calls).to.have.length(1);
  });

  it("ends with the last error after its retries", async () => {
    server.answer = (_, response) => refuse(response, 503, "unavailable", { "retry-after": "0" });
    expect(await errorOf(client({ retries: 2 }).get("/agents"))).to.include({ reason: "unavailable" });
    expect(server.calls).to.have.length(3);
  });

  it("takes an object for deleted when the answer to the deletion was lost", async () => {
    server.answer = (_, response) => {
      if (server.calls.length === 1) response.destroy();
      else refuse(response, 404, "not_found");
    };
    await client().delete("/agents/{agentId}", { path: { agentId: "agt_1" } });
    expect(await errorOf(client().delete("/agents/{agentId}", { path: { agentId: "agt_1" } }))).to.include({
      code: 404,
    });
  });

  it("says what is wrong with a request, with code, reason, problems and request id", async () => {
    const errors = [{ code: "custom", pointer: "/name", message: "is too long" }];
    server.answer = (_, response) => {
      response.writeHead(400, { "content-type": "application/json", "x-request-id": "abc" });
      const body = {
        code: 400,
        errMsg: "the body has problems",
        path: "/x",
        timestamp: 1,
        reason: "malformed_request",
      };
      response.end(JSON.stringify({ ...body, errors }));
    };
    const error = (await errorOf(client().post("/projects", { body: { name: "" } }))) as ApiError;
    expect(error).to.include({ code: 400, reason: "malformed_request", requestId: "abc", call: "POST /projects" });
    expect(error.problems).to.deep.equal(errors);
    expect(error.message).to.equal("the body has problems");
  });

  it("tells a foreign server from millrace, and takes a token to no other server", async () => {
    server.answer = ({ url }, response) => {
      if (url.endsWith("/agents")) response.writeHead(302, { location: "http://127.0.0.1:1/elsewhere" }).end();
      else response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>");
    };
    const page = await errorOf(client().get("/pipelines"));
    expect(page).to.be.instanceOf(ForeignAnswerError).and.to.include({ status: 200 });
    expect((page as Error).message).to.contain("text/html");
    expect(await errorOf(client().get("/agents")))
      .to.be.instanceOf(ForeignAnswerError)
      .and.to.include({ status: 302 });
    server.answer = (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end("{");
    expect(await errorOf(client().get("/agents"))).to.be.instanceOf(ForeignAnswerError);
    expect(server.calls).to.have.length(3);
  });

  it("stops reading an answer that is too large, also when it is compressed", async () => {
    const large = JSON.stringify({ detail: "x".repeat(1_000_000) });
    for (const headers of [{}, { "content-encoding": "gzip" }]) {
      server.answer = (_, response) => {
        response.writeHead(200, { "content-type": "application/json", ...headers });
        response.end("content-encoding" in headers ? gzipSync(large) : large);
      };
      const error = await errorOf(client({ maxAnswerBytes: 10_000 }).get("/agents"));
      expect(error).to.be.instanceOf(AnswerTooLargeError).and.to.include({ limitBytes: 10_000 });
    }
  });

  it("repeats a read whose answer was cut off", async () => {
    server.answer = (_, response) => {
      if (server.calls.length > 1) return succeed(response, { list: [], total: 0 });
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"code":', () => response.destroy());
    };
    expect(await client().get("/agents")).to.deep.equal({ list: [], total: 0 });
  });

  it("ends with the reason of its signal, also while it waits", async () => {
    const ending = new AbortController();
    server.answer = (_, response) => {
      refuse(response, 429, "too_many", { "retry-after": "50" });
      setImmediate(() => ending.abort(new Error("enough")));
    };
    expect(await errorOf(client().get("/agents", { signal: ending.signal }))).to.include({ message: "enough" });
    expect(await errorOf(client().get("/agents", { signal: ending.signal }))).to.include({ message: "enough" });
  });

  it("reads a list page after page, by cursor or by page number, and no page that is not needed", async () => {
    server.answer = ({ url }, response) => {
      const query = new URL(url, "http://x").searchParams;
      if (url.startsWith("/api/v1/pipelines?") || url === "/api/v1/pipelines") {
        const page = Number(query.get("page") ?? 1);
        return succeed(response, { list: [page * 2 - 1, page * 2], total: 4, page, pageSize: 2 });
      }
      const after = Number(query.get("after") ?? 0);
      return succeed(response, { list: [after + 1], total: 3, next: after + 1 < 3 ? `${after + 1}` : null });
    };
    const collect = async (items: AsyncIterable<unknown>) => {
      const all = [];
      for await (const item of items) all.push(item);
      return all;
    };
    expect(await collect(client().items("/pipelines"))).to.deep.equal([1, 2, 3, 4]);
    expect(server.calls).to.have.length(2);
    const runs = client().items("/pipelines/{pipelineId}/runs", {
      path: { pipelineId: "p" },
      query: { status: "failed" },
    });
    expect(await collect(runs)).to.deep.equal([1, 2, 3]);
    expect(server.calls.at(-1)!.url).to.equal("/api/v1/pipelines/p/runs?status=failed&after=2");
    for await (const item of client().items("/pipelines")) if (item !== undefined) break;
    expect(server.calls).to.have.length(6);
  });

  it("keeps parameters of paths in their place", async () => {
    server.answer = (_, response) => succeed(response, {});
    await client().get("/pipelines/{pipelineId}", { path: { pipelineId: "a/../b?c#d" } });
    expect(server.calls[0]!.url).to.equal("/api/v1/pipelines/a%2F..%2Fb%3Fc%23d");
    await client().get("/plugins/{name}", { path: { name: "util/json patch" } });
    expect(server.calls[1]!.url).to.equal("/api/v1/plugins/util/json%20patch");
    for (const pipelineId of ["", ".", ".."]) {
      expect(await errorOf(client().get("/pipelines/{pipelineId}", { path: { pipelineId } }))).to.be.instanceOf(
        TypeError,
      );
    }
    expect(await errorOf(client().get("/plugins/{name}", { path: { name: "a/../b" } }))).to.be.instanceOf(TypeError);
    expect(server.calls).to.have.length(2);
  });

  describe("with the tokens of a login", () => {
    let stored: LoginTokens;
    let now: number;
    /** The refresh token that the server takes next. */
    let good: string;
    let refreshes: number;

    beforeEach(() => {
      now = 1_000_000;
      refreshes = 0;
      good = "refresh-0";
      stored = { accessToken: "access-0", refreshToken: "refresh-0", expiresAt: now + 900_000 };
      server.answer = ({ url, headers, body }, response) => {
        if (url === "/api/v1/auth/refresh") {
          if ((JSON.parse(body) as { refreshToken: string }).refreshToken !== good) {
            return refuse(response, 401, "unauthenticated");
          }
          refreshes++;
          good = `refresh-${refreshes}`;
          return succeed(response, {
            accessToken: `access-${refreshes}`,
            refreshToken: good,
            expiresIn: 900,
            userId: "u",
          });
        }
        if (headers.authorization !== `Bearer access-${refreshes}`) return refuse(response, 401, "unauthenticated");
        return succeed(response, { list: [], total: 0 });
      };
    });

    function loggedIn(): MillraceClient {
      const plain = client({ credentials: undefined });
      const store = {
        load: () => Promise.resolve(stored),
        save: (next: LoginTokens) => Promise.resolve(void (stored = next)),
      };
      const credentials = new RefreshingCredentials({
        store,
        refresh: (token) => plain.refresh(token),
        now: () => now,
      });
      return client({ credentials });
    }

    it("renews an expired token once for all calls that need it", async () => {
      const api = loggedIn();
      await api.get("/agents");
      now += 880_000;
      await Promise.all(Array.from({ length: 10 }, () => api.get("/agents")));
      expect(refreshes).to.equal(1);
      expect(stored).to.include({ accessToken: "access-1", refreshToken: "refresh-1" });
    });

    it("renews a token that the server refuses, and repeats the call once", async () => {
      const api = loggedIn();
      await api.get("/agents");
      refreshes = 5;
      good = "refresh-0";
      await Promise.all(Array.from({ length: 10 }, () => api.get("/agents")));
      expect(stored.accessToken).to.equal("access-6");
      expect(server.calls.filter(({ url }) => url.endsWith("/refresh"))).to.have.length(1);
    });

    it("uses the tokens that another program has stored, because a refresh token is good once", async () => {
      const [one, other] = [loggedIn(), loggedIn()];
      await Promise.all([one.get("/agents"), other.get("/agents")]);
      now += 880_000;
      await one.get("/agents");
      await other.get("/agents");
      expect(refreshes).to.equal(1);
    });

    it("ends with the error of the server when the login is over", async () => {
      good = "none";
      now += 880_000;
      expect(await errorOf(loggedIn().get("/agents"))).to.include({ code: 401, reason: "unauthenticated" });
      expect(server.calls).to.have.length(1);
    });
  });
});
