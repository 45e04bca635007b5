/** What operators and users read about an object storage. Its contract is in test/object-storage. */
import { expect } from "chai";
import { readNodeConfig } from "../../src/settings/config.ts";
import { dispositionOf } from "../../src/stores/objects/disposition.ts";
import { isMisconfigured, textOfPlace, translateObjectFault } from "../../src/stores/objects/faults.ts";

const place = { bucket: "ci", prefix: "a/", endpoint: "http://127.0.0.1:9", region: "us-east-1", pathStyle: true };
const answer = (name: string, httpStatusCode: number) => ({ name, $metadata: { httpStatusCode } });

describe("an object storage", () => {
  it("has faults that say what is wrong, where, and what to do", () => {
    for (const [fault, text, lasts] of [
      [answer("SignatureDoesNotMatch", 403), "refuses the credentials (SignatureDoesNotMatch): check them", true],
      [answer("PermanentRedirect", 301), "correct MILLRACE_OBJECT_STORAGE_REGION", true],
      [answer("NoSuchBucket", 404), "has no such bucket: create it, or correct MILLRACE_OBJECT_STORAGE", true],
      [{ name: "CredentialsProviderError" }, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", true],
      [answer("SlowDown", 503), "answers 503 (SlowDown): try again in a moment", false],
      [{ name: "Error", code: "ECONNRESET" }, "cannot be reached (ECONNRESET): check its address", false],
    ] as const) {
      const translated = translateObjectFault(fault, place);
      expect(translated.reason).to.equal("unavailable");
      expect(translated.message).to.include("the object storage s3://ci/a at http://127.0.0.1:9 ").and.include(text);
      expect(isMisconfigured(translated), text).to.equal(lasts);
    }
  });

  it("is read from settings, which name a part of a bucket", () => {
    const read = (text: string, more: Record<string, string> = {}) =>
      readNodeConfig({ MILLRACE_OBJECT_STORAGE: text, ...more }).objectStorage;
    expect(readNodeConfig({}).objectStorage).to.equal(null);
    const aws = {
      bucket: "ci-content",
      endpoint: null,
      region: "us-east-1",
      pathStyle: false,
      directDownloads: false,
      logs: { afterMs: 3_600_000 },
    };
    expect(read("s3://ci-content")).to.deep.equal({ ...aws, prefix: "" });
    expect(read("s3://ci-content/a//b/")).to.deep.equal({ ...aws, prefix: "a/b/" });
    const other = read("s3://ci-content", {
      MILLRACE_OBJECT_STORAGE_ENDPOINT: "https://minio.example.com:9000/",
      MILLRACE_OBJECT_STORAGE_DOWNLOADS: "direct",
    });
    expect(other).to.include({ endpoint: "https://minio.example.com:9000", pathStyle: true, directDownloads: true });
    expect(textOfPlace(other!)).to.equal("s3://ci-content at https://minio.example.com:9000");
    for (const text of ["https://ci-content", "s3://", "s3://Upper", "s3://ci-content/a b", "s3://user@ci-content"]) {
      expect(() => read(text), text).to.throw("must be a bucket with or without a prefix");
    }
    expect(() => read("s3://ci-content", { MILLRACE_OBJECT_STORAGE_ENDPOINT: "https://key:secret@host" })).to.throw(
      /without a user and a path$/,
    );
    expect(() => readNodeConfig({ MILLRACE_OBJECT_STORAGE_PATH_STYLE: "on" })).to.throw(
      "MILLRACE_OBJECT_STORAGE_PATH_STYLE is read with MILLRACE_OBJECT_STORAGE only",
    );
  });

  it("sends downloads under their names, whatever these hold", () => {
    expect(dispositionOf("report.txt")).to.equal('attachment; filename="report.txt"');
    expect(dispositionOf('a"b\\c\r\nü%.html')).to.equal(
      `attachment; filename="a_b_c____.html"; filename*=UTF-8''a%22b%5Cc%0D%0A%C3%BC%25.html`,
    );
  });
});
