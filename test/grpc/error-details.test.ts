import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { BadRequest, ErrorInfo, RetryInfo } from "../../proto/generated/google/rpc/error_details.ts";
import { Status } from "../../proto/generated/google/rpc/status.ts";
import { ERROR_TABLE, type ErrorReason, MillraceError, type Problem } from "../../src/domain/errors.ts";
import { fieldPath } from "../../src/grpc/error-details.ts";
import { toStatus } from "../../src/grpc/status.ts";
import { silentLog } from "../support/kernel-ports.ts";

/** The bound of C-core, Java and Node clients for all metadata of an answer together, by default. */
const CLIENTS_TAKE = 8_192;
const REASONS = Object.keys(ERROR_TABLE) as ErrorReason[];

function detailsOf(error: unknown) {
  const sent = toStatus(error, "/p", silentLog);
  const rich = Status.decode(sent.metadata.get("grpc-status-details-bin")[0] as Buffer);
  const find = (type: string) =>
    rich.details.find(({ typeUrl }) => typeUrl === `type.googleapis.com/google.rpc.${type}`);
  const [info, retry, bad] = ["ErrorInfo", "RetryInfo", "BadRequest"].map((type) => find(type)?.value);
  return {
    sent,
    rich,
    info: info && ErrorInfo.decode(info),
    retry: retry && RetryInfo.decode(retry),
    violations: bad && BadRequest.decode(bad).fieldViolations,
  };
}

/** The size of the metadata as HTTP/2 counts it: 32 bytes for each header besides name and value. */
function metadataBytes({ sent }: ReturnType<typeof detailsOf>): number {
  const library = 4 * 32 + ":status200content-typeapplication/grpc+protogrpc-status16grpc-message".length;
  const values = Object.entries(sent.metadata.toHttp2Headers()).flatMap(([name, values]) =>
    [values].flat().map((value) => 32 + name.length + String(value).length),
  );
  return values.reduce((sum, bytes) => sum + bytes, library + encodeURI(sent.details).length);
}

describe("the details of an error", () => {
  it("hold the code, the word and whether to retry, for each row of the error table", () => {
    for (const reason of REASONS) {
      const { sent, rich, info } = detailsOf(new MillraceError(reason, "text"));
      expect(rich.code, reason).to.equal(sent.code).and.to.equal(ERROR_TABLE[reason].grpc);
      expect(rich.message, reason).to.equal(sent.details);
      expect(sent.metadata.get("reason"), reason).to.deep.equal([reason]);
      expect(info, reason).to.deep.equal({
        reason: reason.toUpperCase(),
        domain: "millrace",
        metadata: { retry: ERROR_TABLE[reason].retry },
      });
      expect(info?.reason, "as google.rpc asks for").to.match(/^[A-Z][A-Z0-9_]{1,61}[A-Z0-9]$/);
    }
  });

  it("hold a delay for a retry only when the reason is unavailable", () => {
    const withDelay = REASONS.filter((reason) => detailsOf(new MillraceError(reason, "text")).retry !== undefined);
    expect(withDelay).to.deep.equal(["unavailable"]);
    const { retry } = detailsOf(new MillraceError("unavailable", "text"));
    expect(retry?.retryDelay).to.deep.equal({ seconds: 1n, nanos: 0 });
  });

  it("list 20 problems at most, and hold the number of all", () => {
    const problems = Array.from({ length: 40 }, (_, n) => ({ code: "unknown_key", pointer: `/k${n}`, message: "x" }));
    const { sent, info } = detailsOf(new MillraceError("malformed_request", "text", { problems, problemCount: 400 }));
    expect(info?.metadata).to.deep.equal({ retry: "never", problems: "400" });
    expect(JSON.parse(String(sent.metadata.get("problems-bin")[0]))).to.have.length(20);
  });

  it("name the field of each problem by its path", () => {
    const problems: Problem[] = [
      { code: "malformed", pointer: "/name", message: "is required" },
      { code: "unknown-job", pointer: "/jobs/0/needs/1", message: "no such job", line: 3, column: 7 },
    ];
    const { violations } = detailsOf(new MillraceError("malformed_request", "text", { problems }));
    expect(violations).to.deep.equal([
      { field: "name", description: "is required", reason: "MALFORMED" },
      { field: "jobs[0].needs[1]", description: "3:7: no such job", reason: "UNKNOWN_JOB" },
    ]);
  });

  it("write unambiguous paths", () => {
    expect(["", "/a", "/a/0/b", "/labels/x.y", "/env/A B/~1~0", "/0"].map(fieldPath)).to.deep.equal([
      "",
      "a",
      "a[0].b",
      'labels["x.y"]',
      'env["A B"]["/~"]',
      "[0]",
    ]);
  });

  it("keep every answer within the size that clients accept", () => {
    const long = "ü€😀".repeat(2_000);
    const many = Array.from({ length: 5_000 }, (_, n) => ({
      code: "malformed",
      pointer: `/jobs/${n}/needs/0`,
      message: "is no name",
    }));
    const large = [{ code: "malformed", pointer: `/${long}`, message: long }];
    for (const [text, problems] of [
      ["text", many],
      [long, many],
      [long, large],
      ["x".repeat(100_000), many],
      ["half of a character: \ud83d", many],
    ] as const) {
      const details = detailsOf(new MillraceError("invalid_definition", text, { problems }));
      expect(metadataBytes(details)).to.be.at.most(CLIENTS_TAKE);
      expect(details.rich.code).to.equal(status.INVALID_ARGUMENT);
      expect(details.sent.details.slice(0, 3)).to.equal(text.slice(0, 3));
    }
    const { violations, sent } = detailsOf(new MillraceError("invalid_definition", "text", { problems: many }));
    expect(violations?.length, "the problems that fit are sent").to.be.within(30, 100);
    const listed = JSON.parse(String(sent.metadata.get("problems-bin")[0])) as Problem[];
    expect(listed).to.deep.equal(many.slice(0, listed.length)).and.to.have.length.within(30, 100);
  });

  it("hold nothing about the cause of an internal error", () => {
    const { sent, info } = detailsOf(new Error("password is hunter2"));
    expect(info?.reason).to.equal("INTERNAL");
    expect(JSON.stringify(sent)).not.to.include("hunter2");
    expect(Buffer.from(sent.metadata.get("grpc-status-details-bin")[0] as Buffer).toString()).not.to.include("hunter2");
  });
});
