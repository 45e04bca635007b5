/** How the edge serves the web page beside the API. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gunzipSync, gzipSync } from "node:zlib";
import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const INDEX = "<!doctype html><title>page</title>";
const SCRIPT = "console.log('page');".repeat(100);
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

describe("the web page of an edge", () => {
  let folder: string;
  let edge: TestEdge;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-page-"));
    await mkdir(join(folder, "assets"));
    await writeFile(join(folder, "index.html"), INDEX);
    const script = join(folder, "assets", "main-abc.js");
    await writeFile(script, SCRIPT);
    await writeFile(`${script}.br`, brotliCompressSync(SCRIPT));
    await writeFile(`${script}.gz`, gzipSync(SCRIPT));
    edge = await openTestEdge({ webFolder: folder });
  });
  after(async () => {
    await edge?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** As a program on the wire: `fetch` would decode the body. */
  async function ask(path: string, headers: Record<string, string> = {}, method = "GET") {
    const answer = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
      request(`${edge.origin}${path}`, { method, headers }, resolve).once("error", reject).end();
    });
    return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
  }

  it("is answered at its addresses, with the headers that bound it, and asked for again each time", async () => {
    for (const path of ["/", "/runs", "/runs/run_1/steps/step_1", "/pipelines/x/trigger?a=b", "/me"]) {
      const { status, headers, body } = await ask(path);
      expect([status, body.toString()], path).to.deep.equal([200, INDEX]);
      expect(headers).to.include({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cache-control": "no-cache",
      });
      const again = await ask(path, { "if-none-match": headers.etag! });
      expect([again.status, again.body.length]).to.deep.equal([304, 0]);
    }
  });

  it("has files that never change, in the form that the browser takes", async () => {
    const plain = await ask("/assets/main-abc.js");
    expect(plain.headers).to.include({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
    });
    expect(plain.body.toString()).to.equal(SCRIPT);
    const br = await ask("/assets/main-abc.js", { "accept-encoding": "gzip, br" });
    expect(br.headers["content-encoding"]).to.equal("br");
    expect(br.body.equals(brotliCompressSync(SCRIPT))).to.equal(true);
    const gzip = await ask("/assets/main-abc.js", { "accept-encoding": "gzip, br;q=0" });
    expect(gzip.headers["content-encoding"]).to.equal("gzip");
    expect(gunzipSync(gzip.body).toString()).to.equal(SCRIPT);
    expect(new Set([plain.headers.etag, br.headers.etag, gzip.headers.etag]).size).to.equal(3);
  });

  it("answers HEAD with the length and no body", async () => {
    const { status, headers, body } = await ask("/runs", {}, "HEAD");
    expect([status, headers["content-length"], body.length]).to.deep.equal([200, `${INDEX.length}`, 0]);
  });

  it("is shown with 404 to a person at an unknown address, and to no program", async () => {
    const person = await ask("/nothing", { accept: "text/html,*/*;q=0.8" });
    expect([person.status, person.body.toString()]).to.deep.equal([404, INDEX]);
    for (const path of ["/nothing", "/assets/gone.js", "/index.html.br", "/..%2f..%2fpackage.json"]) {
      const program = await ask(path);
      expect([program.status, program.headers["content-type"]], path).to.deep.equal([
        404,
        "application/json; charset=utf-8",
      ]);
    }
  });

  it("leaves every route of the server as it is", async () => {
    const html = { accept: "text/html" };
    for (const path of ["/api", "/api/v1/nothing", "/api/v1/users", "/.well-known/nothing"]) {
      const { status, body } = await ask(path, html);
      expect([401, 404], path).to.include(status);
      expect(JSON.parse(body.toString()), path).to.have.property("reason");
    }
    expect((await ask("/healthz", html)).body.toString()).not.to.equal(INDEX);
    expect((await ask("/login", html)).body.toString()).to.include("Log in");
    expect((await ask("/runs", {}, "POST")).status).to.equal(404);
    expect((await ask("/login", {}, "DELETE")).status).to.equal(405);
  });

  it("is absent where it was not built", async () => {
    const bare = await openTestEdge({ webFolder: join(folder, "missing") });
    try {
      expect((await bare.call("GET", "/../../")).status).to.equal(404);
      expect((await fetch(`${bare.origin}/runs`, { headers: { accept: "text/html" } })).status).to.equal(404);
    } finally {
      await bare.close();
    }
  });
});
