import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { deflateRawSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { pruneUploads } from "../../src/app/content/upload-pruner.ts";
import { PIECE_BYTES } from "../../src/domain/artifacts.ts";
import { asId, newId, type ProjectId, type UploadId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { UPLOAD_RULES } from "../support/upload-rules.ts";
import { until } from "../support/until.ts";

const PART = { "content-type": "application/offset+octet-stream" };
const BOUNDARY = "a-boundary";
const FORM = { "content-type": `multipart/form-data; boundary=${BOUNDARY}` };
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function form(name: string, content: Uint8Array, type = "text/plain", rest = ""): Buffer {
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="f"; filename="${name}"\r\ncontent-type: ${type}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n${rest}--${BOUNDARY}--\r\n`)]);
}

/** A zip file of one packed entry, without the directory at its end. */
function zipOf(name: string, packed: Buffer, unpackedBytes: number): Buffer {
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(20, 4);
  head.writeUInt16LE(8, 8);
  head.writeUInt32LE(packed.length, 18);
  head.writeUInt32LE(unpackedBytes, 22);
  head.writeUInt16LE(name.length, 26);
  return Buffer.concat([head, Buffer.from(name), packed]);
}

describe("uploads over HTTP", () => {
  let edge: TestEdge;
  beforeEach(async () => void (edge = await openTestEdge()));
  afterEach(() => edge.close());

  const at = (rest = "", projectId = "default") => `/api/v1/projects/${projectId}/uploads${rest}`;
  const begin = async (size: number, more: object = {}): Promise<UploadId> => {
    const answer = await edge.call("POST", at(), { body: { name: "a.bin", size, ...more } });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    expect(answer.body.detail).to.include({ offset: 0, status: "uploading" });
    return answer.body.detail.uploadId;
  };
  const send = (uploadId: string, offset: number | string, raw: Uint8Array, headers: Record<string, string> = {}) =>
    edge.call("PATCH", at(`/${uploadId}/content`), {
      raw,
      headers: { ...PART, "upload-offset": `${offset}`, ...headers },
    });
  const sendForm = (name: string, content: Uint8Array, type?: string, headers: Record<string, string> = {}) =>
    edge.call("POST", at("/form"), { raw: form(name, content, type), headers: { ...FORM, ...headers } });
  const read = (uploadId: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(edge.origin + at(`/${uploadId}/content`), {
      method,
      headers: { authorization: `Bearer ${edge.adminToken}`, ...headers },
    });
  /** Sends the head of a request and a part of its body, and then cuts the connection. */
  const cutOff = async (method: string, path: string, headers: Record<string, string>, body: Uint8Array) => {
    const socket = connect(edge.port, "127.0.0.1");
    const all = { host: "h", authorization: `Bearer ${edge.adminToken}`, "content-length": "2000000", ...headers };
    socket.write(`${method} ${path} HTTP/1.1\r\n`);
    for (const [name, value] of Object.entries(all)) socket.write(`${name}: ${value}\r\n`);
    socket.write("\r\n");
    await new Promise((done) => socket.write(body, done));
    return socket;
  };

  it("take a file in parts, continue where they were cut off, and are read as a whole or in ranges", async () => {
    const content = randomBytes(2 * PIECE_BYTES + 1_000);
    const uploadId = await begin(content.length, { sha256: sha256(content), type: "application/x-any" });
    const socket = await cutOff(
      "PATCH",
      at(`/${uploadId}/content`),
      { ...PART, "upload-offset": "0", "content-length": `${content.length}` },
      content.subarray(0, PIECE_BYTES + 50),
    );
    await until("a whole piece is stored", async () => {
      return (await edge.call("GET", at(`/${uploadId}`))).body.detail.offset === PIECE_BYTES;
    });
    socket.destroy();
    const head = await fetch(edge.origin + at(`/${uploadId}`), {
      method: "HEAD",
      headers: { authorization: `Bearer ${edge.adminToken}` },
    });
    expect(head.headers.get("upload-offset")).to.equal(`${PIECE_BYTES}`);
    expect(head.headers.get("upload-length")).to.equal(`${content.length}`);
    expect((await read(uploadId)).status, "before it is complete").to.equal(409);

    expect((await send(uploadId, PIECE_BYTES + 50, content)).status, "beyond the announced size").to.equal(413);
    const gap = await send(uploadId, PIECE_BYTES + 50, content.subarray(PIECE_BYTES + 50));
    expect([gap.status, gap.body.reason]).to.deep.equal([409, "conflict"]);
    const part = await send(uploadId, PIECE_BYTES, content.subarray(PIECE_BYTES, 2 * PIECE_BYTES + 10));
    expect(part.body.detail).to.include({ offset: 2 * PIECE_BYTES, status: "uploading" });
    const last = await send(uploadId, 2 * PIECE_BYTES, content.subarray(2 * PIECE_BYTES));
    expect(last.body.detail).to.include({ offset: content.length, status: "stored", sha256: sha256(content) });
    expect((await send(uploadId, content.length, Buffer.alloc(0))).status, "when it is complete").to.equal(409);

    const whole = await read(uploadId);
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).to.equal(true);
    const range = await read(uploadId, { range: `bytes=${PIECE_BYTES - 5}-${PIECE_BYTES + 4}` });
    expect(range.status).to.equal(206);
    const bytes = Buffer.from(await range.arrayBuffer());
    expect(bytes.equals(content.subarray(PIECE_BYTES - 5, PIECE_BYTES + 5))).to.equal(true);
    expect((await read(uploadId, { range: "bytes=99999999-" })).status).to.equal(416);
    expect((await read(uploadId, { "if-none-match": whole.headers.get("etag")! })).status).to.equal(304);
  });

  it("take the file of a form, and answer a repeat of the call with the same upload", async () => {
    const headers = { "idempotency-key": "k1" };
    const first = await sendForm("résumé.txt", Buffer.from("hello"), "text/plain", headers);
    const { detail } = first.body;
    expect(detail).to.include({ name: "résumé.txt", size: 5, status: "stored", sha256: sha256(Buffer.from("hello")) });
    expect(detail).to.include({ type: "text/plain", sniffedType: null, typeMatches: true });
    const again = await sendForm("résumé.txt", Buffer.from("hello"), "text/plain", headers);
    expect(again.body.detail.uploadId).to.equal(detail.uploadId);
    const other = await sendForm("résumé.txt", Buffer.from("other"), "text/plain", headers);
    expect([other.status, other.body.reason]).to.deep.equal([409, "request_id_reused"]);
    const { ticket } = (await edge.call("POST", "/api/v1/auth/tickets")).body.detail;
    const open = () => fetch(`${edge.origin}${at(`/${detail.uploadId}/content`)}?ticket=${ticket}`);
    expect(await (await open()).text(), "by a ticket").to.equal("hello");
    expect((await open()).status, "which is good once").to.equal(401);
    expect((await sendForm("empty", Buffer.alloc(0))).body.detail).to.include({ size: 0, status: "stored" });
    const list = (await edge.call("GET", at("?pageSize=1"))).body.detail;
    expect(list).to.include({ total: 2 });
    const rest = (await edge.call("GET", at(`?pageSize=1&after=${list.next}`))).body.detail;
    expect([...list.list, ...rest.list].map(({ name }) => name)).to.deep.equal(["empty", "résumé.txt"]);
  });

  it("are one upload for calls with one key", async () => {
    const body = { name: "a", size: 3 };
    const headers = { "idempotency-key": "k2" };
    const [one, two] = [
      await edge.call("POST", at(), { body, headers }),
      await edge.call("POST", at(), { body, headers }),
    ];
    expect(two.body.detail).to.deep.equal(one.body.detail);
    const other = await edge.call("POST", at(), { body: { ...body, size: 4 }, headers });
    expect(other.body.reason).to.equal("request_id_reused");
  });

  it("say when the content is not what its sender declares, and never become pages", async () => {
    const cases: readonly (readonly [string, Uint8Array, object])[] = [
      ["image/png", PNG, { sniffedType: "image/png", typeMatches: true }],
      ["text/plain", PNG, { sniffedType: "image/png", typeMatches: false }],
      ["image/png", Buffer.from("<script>alert(1)</script>"), { sniffedType: null, typeMatches: false }],
      ["text/html", Buffer.from("<script>alert(1)</script>"), { sniffedType: null, typeMatches: true }],
      ["text/csv", Buffer.from("a\0b"), { sniffedType: null, typeMatches: false }],
      ["application/zip", Buffer.from("504b0304140000000800", "hex"), { sniffedType: "application/zip" }],
      ["application/octet-stream", PNG, { sniffedType: "image/png", typeMatches: true }],
    ];
    for (const [type, content, expected] of cases) {
      const { detail } = (await sendForm("x.html", content, type)).body;
      expect(detail, type).to.include({ type, ...expected });
      const { headers } = await read(detail.uploadId);
      expect(headers.get("content-type")).to.equal("application/octet-stream");
      expect(headers.get("content-disposition")).to.equal('attachment; filename="x.html"');
      expect(headers.get("x-content-type-options")).to.equal("nosniff");
      expect(headers.get("content-security-policy")).to.match(/default-src 'none'.*sandbox/);
    }
  });

  it("refuse names that are no names of files, and never let a name into a header", async () => {
    const names = ["../a", "/etc/passwd", "a/b", "a\\b", "..", ".", "", "x".repeat(256), "a\u0007b", "a\u202eb"];
    for (const name of names) {
      expect((await edge.call("POST", at(), { body: { name, size: 1 } })).status, JSON.stringify(name)).to.equal(400);
      expect((await sendForm(name.replaceAll("\\", "\\\\"), PNG)).status, `form ${JSON.stringify(name)}`).to.equal(400);
    }
    expect((await edge.call("POST", at(), { body: { name: "a\r\nset-cookie: x=y", size: 1 } })).status).to.equal(400);
    const odd = "a\"; filename*=UTF-8''evil.html; x=\"€.txt";
    const uploadId = await begin(0, { name: odd });
    await send(uploadId, 0, Buffer.alloc(0));
    const disposition = (await read(uploadId)).headers.get("content-disposition")!;
    expect(disposition).to.match(/^attachment; filename="(?:[^"\\]|\\.)*"; filename\*=UTF-8''[\w%.'*-]+$/);
    expect((await edge.call("GET", at(`/${encodeURIComponent("../../x")}`))).status).to.equal(404);
  });

  it("refuse broken forms, forms with other parts, and bodies of other types", async () => {
    const post = (raw: Uint8Array, headers: Record<string, string> = FORM) =>
      edge.call("POST", at("/form"), { raw, headers });
    const field = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="projectId"\r\n\r\nother\r\n`;
    const whole = form("a.txt", Buffer.from("hello"));
    const bad: readonly Uint8Array[] = [
      Buffer.from("no form"),
      Buffer.from(`--${BOUNDARY}--\r\n`),
      whole.subarray(0, whole.length - 10),
      form("a.txt", Buffer.from("hello"), "text/plain", field),
      Buffer.concat([Buffer.from(field), whole]),
    ];
    for (const [index, raw] of bad.entries()) expect((await post(raw)).status, `form ${index}`).to.equal(400);
    expect((await post(whole, { "content-type": "multipart/form-data" })).status, "no boundary").to.equal(400);
    expect((await post(whole, { "content-type": "application/json" })).status).to.equal(415);
    const uploadId = await begin(3);
    expect((await send(uploadId, 0, PNG, { "content-type": "text/plain" })).status, "too long").to.equal(413);
    expect((await send(uploadId, 0, Buffer.from("abc"), { "content-type": "text/plain" })).status).to.equal(415);
    for (const offset of ["", "-1", "1e3", "0x1", "9".repeat(30)]) {
      expect((await send(uploadId, offset, Buffer.from("abc"))).status, offset).to.equal(400);
    }
    expect((await edge.call("GET", at())).body.detail.total, "what is left of refused forms").to.equal(1);
  });

  it("store an archive as it is, however large it would be unpacked, and say when it is no archive", async () => {
    const zeros = Buffer.alloc(8 * 1024 * 1024);
    const packed = deflateRawSync(zeros);
    const bombs: readonly (readonly [string, Buffer])[] = [
      ["application/gzip", gzipSync(zeros)],
      ["application/gzip", gzipSync(gzipSync(zeros))],
      ["application/zip", zipOf("[Content_Types].xml", packed, zeros.length)],
      // Its header says that nothing is in it.
      ["application/zip", zipOf("mimetype", packed, 0)],
    ];
    for (const [type, bomb] of bombs) {
      const { detail } = (await sendForm("bomb", bomb, type)).body;
      expect(detail).to.include({ size: bomb.length, sha256: sha256(bomb), sniffedType: type, typeMatches: true });
      expect(Buffer.from(await (await read(detail.uploadId)).arrayBuffer()).equals(bomb)).to.equal(true);
      expect((await sendForm("notes.txt", bomb, "text/plain")).body.detail).to.include({ typeMatches: false });
    }
    const { bytes } = await edge.context.stores.uploads.amountOf(asId<ProjectId>("default"));
    expect(bytes, "what counts is what was sent").to.equal(2 * bombs.reduce((sum, [, bomb]) => sum + bomb.length, 0));
    expect((await sendForm("a.zip", Buffer.from("no archive"), "application/zip")).body.detail).to.include({
      sniffedType: null,
      typeMatches: false,
    });
  });

  it("refuse a compressed body, which is never inflated", async () => {
    const bomb = gzipSync(Buffer.alloc(UPLOAD_RULES.maxBytes));
    const uploadId = await begin(UPLOAD_RULES.maxBytes);
    const gzip = { "content-encoding": "gzip" };
    for (const answer of [
      await send(uploadId, 0, bomb, gzip),
      await edge.call("POST", at("/form"), { raw: gzipSync(form("a", bomb)), headers: { ...FORM, ...gzip } }),
      await edge.call("POST", at(), { raw: bomb, headers: { "content-type": "application/json", ...gzip } }),
    ]) {
      expect([answer.status, answer.body.reason]).to.deep.equal([415, "unsupported_media_type"]);
      expect(answer.headers.get("accept-encoding")).to.equal("identity");
    }
    expect((await edge.call("GET", at(`/${uploadId}`))).body.detail).to.include({ offset: 0 });
    expect((await edge.call("GET", at())).body.detail.total).to.equal(1);
  });

  it("drop content with another checksum, and take it again", async () => {
    const uploadId = await begin(3, { sha256: sha256(Buffer.from("abc")) });
    const wrong = await send(uploadId, 0, Buffer.from("abd"));
    expect([wrong.status, wrong.body.reason]).to.deep.equal([409, "conflict"]);
    expect(wrong.body.errMsg).to.include(sha256(Buffer.from("abd")));
    expect((await edge.call("GET", at(`/${uploadId}`))).body.detail).to.include({ offset: 0, status: "uploading" });
    expect((await send(uploadId, 0, Buffer.from("abc"))).body.detail).to.include({ status: "stored" });
  });

  it("are bounded in size, alone and together in their project, also when their size is not announced", async () => {
    const { maxBytes, maxProjectBytes } = UPLOAD_RULES;
    const large = await edge.call("POST", at(), { body: { name: "a", size: maxBytes + 1 } });
    expect([large.status, large.body.reason]).to.deep.equal([400, "too_large"]);
    expect((await sendForm("a", Buffer.alloc(maxBytes + 1))).status).to.equal(413);
    expect((await edge.call("GET", at())).body.detail.total).to.equal(0);
    const sizes = Array.from({ length: 6 }, () => Math.floor(maxProjectBytes / 4));
    const bodies = sizes.map((size) => ({ name: "a", size }));
    const answers = await Promise.all(bodies.map((body) => edge.call("POST", at(), { body })));
    const taken = answers.filter(({ status }) => status === 200).length;
    expect(taken).to.be.within(1, 4);
    for (const { status, body } of answers) if (status !== 200) expect(body.reason).to.equal("too_large");
    expect((await edge.context.stores.uploads.amountOf(asId<ProjectId>("default"))).count).to.equal(taken);
  });

  it("sent by two calls at once are complete and right, or refused", async () => {
    const content = randomBytes(4 * PIECE_BYTES);
    const uploadId = await begin(content.length, { sha256: sha256(content) });
    const answers = await Promise.all([1, 2, 3].map(() => send(uploadId, 0, content)));
    for (const { status } of answers) expect(status).to.be.oneOf([200, 409]);
    let { offset, status } = (await edge.call("GET", at(`/${uploadId}`))).body.detail;
    if (status !== "stored")
      ({ offset, status } = (await send(uploadId, offset, content.subarray(offset))).body.detail);
    expect(status).to.equal("stored");
    expect(Buffer.from(await (await read(uploadId)).arrayBuffer()).equals(content)).to.equal(true);
  });

  it("leave nothing of a form whose sender is gone", async () => {
    const body = form("a.bin", randomBytes(PIECE_BYTES * 2)).subarray(0, PIECE_BYTES + 500);
    const socket = await cutOff("POST", at("/form"), FORM, body);
    const { uploadId } = await until("the upload has begun", async () => {
      return (await edge.call("GET", at())).body.detail.list[0];
    });
    socket.destroy();
    await once(socket, "close");
    await until("it is deleted", async () => (await edge.call("GET", at())).body.detail.total === 0);
    // The list leaves an upload out from the beginning of its deletion.
    const { blobs } = edge.context.stores;
    await until("its bytes are gone", async () => (await blobs.storedBytes(uploadId)) === 0);
  });

  it("of another project are not found", async () => {
    const { detail } = (await edge.call("POST", "/api/v1/projects", { body: { name: "other" } })).body;
    const uploadId = await begin(3);
    for (const [method, rest] of [
      ["GET", ""],
      ["GET", "/content"],
      ["DELETE", ""],
    ] as const) {
      const answer = await edge.call(method, at(`/${uploadId}${rest}`, detail.projectId));
      expect(answer.status, `${method} ${rest}`).to.equal(404);
    }
    await edge.call("PATCH", `/api/v1/projects/${detail.projectId}`, { body: { archived: true } });
    const body = { name: "a", size: 1 };
    expect((await edge.call("POST", at("", detail.projectId), { body })).body.reason).to.equal("conflict");
  });

  it("are deleted by users, and by age unless a kept run uses them", async () => {
    const { stores } = edge.context;
    const uploadOf = async () => (await sendForm("a", PNG)).body.detail.uploadId as UploadId;
    const [deleted, unused, used, begun] = [await uploadOf(), await uploadOf(), await uploadOf(), await begin(9)];
    expect((await edge.call("DELETE", at(`/${deleted}`))).status).to.equal(200);
    expect((await edge.call("DELETE", at(`/${deleted}`))).status).to.equal(404);
    expect(await stores.blobs.storedBytes(deleted)).to.equal(0);
    const { pipelineId } = (await edge.call("POST", "/api/v1/pipelines", { body: { name: "p" } })).body.detail;
    const spec = { jobs: [{ name: "j", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }] };
    await edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, { body: { spec } });
    const { runId } = (await edge.call("POST", `/api/v1/pipelines/${pipelineId}/trigger`, { body: {} })).body.detail;
    const key = { uploadId: used, projectId: asId<ProjectId>("default") };
    const now = Date.now();
    await stores.uploads.use(key, { runId, at: now }, now);
    await stores.uploads.use(key, { runId: newId("run"), at: now }, now);
    const left = async () => {
      await pruneUploads(edge.context, 100);
      const found = await Promise.all([unused, used, begun].map((uploadId) => stores.uploads.find(uploadId)));
      return found.map((record) => record !== undefined);
    };
    edge.skewMs = UPLOAD_RULES.unfinishedMs - 60_000;
    expect(await left()).to.deep.equal([true, true, true]);
    edge.skewMs = UPLOAD_RULES.unfinishedMs + 60_000;
    expect(await left()).to.deep.equal([true, true, false]);
    edge.skewMs = UPLOAD_RULES.retentionMs + 3_660_000;
    expect(await left()).to.deep.equal([false, true, false]);
    await stores.uploads.forgetRun(runId);
    edge.skewMs *= 2;
    expect(await left()).to.deep.equal([false, false, false]);
    expect(await stores.blobs.read(used, 0, 10)).to.have.length(0);
  });

  it("have an entry in the audit log for each change, and none for a call that is refused", async () => {
    const content = randomBytes(PIECE_BYTES + 3);
    const uploadId = await begin(content.length);
    await send(uploadId, 0, content.subarray(0, PIECE_BYTES + 1));
    expect((await send(uploadId, 0, content)).status).to.equal(409);
    await send(uploadId, PIECE_BYTES, content.subarray(PIECE_BYTES, PIECE_BYTES + 1));
    await send(uploadId, PIECE_BYTES, content.subarray(PIECE_BYTES));
    expect((await edge.call("DELETE", at(`/${uploadId}`))).status).to.equal(200);
    const { list } = (await edge.call("GET", `/api/v1/audit?object=${uploadId}`)).body.detail;
    const told = { name: "a.bin", size: content.length, type: "application/octet-stream" };
    const stored = { status: "stored", sha256: sha256(content) };
    const changes = list.toReversed().map((entry: Record<string, unknown>) => {
      expect(entry).to.include({ outcome: "done", projectId: "default" });
      expect(entry["object"]).to.deep.equal({ kind: "upload", id: uploadId, name: "a.bin" });
      return [entry["operation"], entry["before"], entry["after"]];
    });
    expect(changes).to.deep.equal([
      ["createUpload", null, { ...told, status: "uploading", sha256: null }],
      ["appendToUpload", { offset: 0 }, { offset: PIECE_BYTES }],
      [
        "appendToUpload",
        { status: "uploading", offset: PIECE_BYTES, sha256: null },
        { ...stored, offset: content.length },
      ],
      ["deleteUpload", { ...told, ...stored }, null],
    ]);
    const sent = (await sendForm("firmware.bin", PNG)).body.detail;
    expect((await sendForm("large.bin", Buffer.alloc(UPLOAD_RULES.maxBytes + 1))).status).to.equal(413);
    const ofForms = (await edge.call("GET", "/api/v1/audit?operation=uploadFile")).body.detail.list;
    expect(ofForms).to.have.length(1);
    const { name, size, type } = sent;
    expect(ofForms[0].object).to.deep.equal({ kind: "upload", id: sent.uploadId, name });
    expect(ofForms[0].after).to.deep.equal({ name, size, type, status: "stored", sha256: sha256(PNG) });
  });

  it("are given to a run by its trigger, which tells every one that cannot be", async () => {
    const { stores } = edge.context;
    const { detail: sent } = (await sendForm("firmware.bin", PNG)).body;
    const { detail: other } = (await edge.call("POST", "/api/v1/projects", { body: { name: "other" } })).body;
    const elsewhere = await edge.call("POST", at("", other.projectId), { body: { name: "a", size: 0 } });
    const { pipelineId } = (await edge.call("POST", "/api/v1/pipelines", { body: { name: "p" } })).body.detail;
    const env = { OF: "${{ trigger.uploads.FIRMWARE.name }}" };
    const spec = { jobs: [{ name: "j", steps: [{ uses: "upload", env, args: { name: "FIRMWARE" } }] }] };
    const saved = await edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, { body: { spec } });
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    const trigger = (uploads: object, requestId?: string) =>
      edge.call("POST", `/api/v1/pipelines/${pipelineId}/trigger`, { body: { uploads, requestId } });

    const wrong = await trigger({
      A: await begin(3),
      B: newId("upl"),
      C: elsewhere.body.detail.uploadId,
      OK: sent.uploadId,
    });
    expect([wrong.status, wrong.body.reason]).to.deep.equal([400, "malformed_request"]);
    expect(
      wrong.body.errors.map(({ code, pointer }: { code: string; pointer: string }) => [code, pointer]),
    ).to.deep.equal([
      ["incomplete", "/uploads/A"],
      ["not_found", "/uploads/B"],
      ["not_found", "/uploads/C"],
    ]);
    const named = await trigger({ "a-b": sent.uploadId, "1": sent.uploadId });
    expect(named.body.errors).to.have.length(2);
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`A${n}`, sent.uploadId]));
    expect((await trigger(many)).body.errMsg).to.include("at most 16 uploads");

    edge.skewMs = 60_000;
    const { runId } = (await trigger({ FIRMWARE: sent.uploadId }, "once")).body.detail;
    expect((await trigger({ FIRMWARE: sent.uploadId }, "once")).body.detail.runId).to.equal(runId);
    expect((await trigger({}, "once")).body.reason).to.equal("request_id_reused");
    const run = (await edge.call("GET", `/api/v1/pipelines/${pipelineId}/runs/${runId}`)).body.detail;
    const { uploadId, name, size } = sent;
    expect(run.uploads).to.deep.equal({ FIRMWARE: { uploadId, name, size, sha256: sha256(PNG) } });
    expect((await stores.plans.loadJob(runId, 0))!.steps[0]!.env).to.deep.equal([["OF", "firmware.bin"]]);
    expect((await stores.uploads.usesOf(uploadId, 10)).map((use) => use.runId)).to.deep.equal([runId]);
    const record = (await stores.uploads.find(uploadId))!;
    expect(record.usedAt - record.createdAt).to.be.at.least(60_000);
    expect(record.expiresAt - record.usedAt).to.equal(UPLOAD_RULES.retentionMs);
    const plain = (await trigger({})).body.detail;
    expect(
      (await edge.call("GET", `/api/v1/pipelines/${pipelineId}/runs/${plain.runId}`)).body.detail.uploads,
    ).to.deep.equal({});
  });
});
