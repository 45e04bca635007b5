import { createHmac } from "node:crypto";
import { expect } from "chai";
import { keptHeaders, proofProblem, senderIdOf } from "../../../src/app/hooks/senders.ts";

const BODY = Buffer.from("Hello, World!");
const NOW = Date.UTC(2026, 0, 1);
const SECRET = "It's a Secret to Everybody";
const hmac = (secret: string | Buffer, text: string) => createHmac("sha256", secret).update(text);

describe("the proof of a sender", () => {
  it("is the signature that the documentation of GitHub gives as its example", () => {
    const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    const problem = (headers: Record<string, string>, body = BODY) =>
      proofProblem({ kind: "github", proof: "signature" }, SECRET, headers, body, NOW);
    expect(problem({ "x-hub-signature-256": signature })).to.equal(undefined);
    expect(problem({ "x-hub-signature-256": signature }, Buffer.from("Hello, World?"))).to.include("does not match");
    expect(problem({ "x-hub-signature-256": signature.slice(7) }), "without its prefix").to.include("does not match");
    expect(problem({ "x-hub-signature-256": "sha256=" }), "no digits").to.include("does not match");
    expect(problem({ "x-gitea-signature": signature.slice(7) }), "of another kind").to.include("is missing");
  });

  for (const [kind, header, prefix] of [
    ["gitea", "x-gitea-signature", ""],
    ["forgejo", "x-forgejo-signature", ""],
    ["bitbucket", "x-hub-signature", "sha256="],
    ["generic", "x-hub-signature-256", "sha256="],
  ] as const) {
    it(`is in the header ${header} of the kind ${kind}`, () => {
      const digits = hmac("key", BODY.toString()).digest("hex");
      const problem = (value: string) =>
        proofProblem({ kind, proof: "signature" }, "key", { [header]: value }, BODY, NOW);
      expect(problem(`${prefix}${digits}`)).to.equal(undefined);
      expect(problem(`${prefix}${hmac("other", BODY.toString()).digest("hex")}`)).to.include("does not match");
      expect(problem(`sha1=${digits}`)).to.include("does not match");
    });
  }

  it("is the signature that the standard gives as its example, for five minutes", () => {
    const seconds = 1_614_265_330;
    const headers = {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": String(seconds),
      "webhook-signature": "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };
    const problem = (more: Record<string, string> = {}, late = 0, body = '{"test": 2432232314}') =>
      proofProblem(
        { kind: "generic", proof: "standard" },
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        { ...headers, ...more },
        Buffer.from(body),
        (seconds + late) * 1_000,
      );
    expect(problem()).to.equal(undefined);
    expect(problem({}, 300)).to.equal(undefined);
    for (const late of [301, -301]) expect(problem({}, late)).to.include("more than 300 s away");
    expect(problem({ "webhook-id": "msg_other" })).to.include("no signature");
    expect(problem({}, 0, '{"test": 1}')).to.include("no signature");
    expect(problem({ "webhook-timestamp": "soon" })).to.include("Unix seconds");
    expect(problem({ "webhook-signature": "" })).to.include("is missing");
    expect(problem({ "webhook-signature": "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" })).to.include(
      "no signature",
    );
  });

  it("is the secret itself where the hook takes a token", () => {
    const gitlab = (value: string) =>
      proofProblem({ kind: "gitlab", proof: "token" }, SECRET, { "x-gitlab-token": value }, BODY, NOW);
    expect(gitlab(SECRET)).to.equal(undefined);
    expect(gitlab(`${SECRET} `)).to.include("is wrong");
    expect(gitlab("")).to.include("is missing");
    const generic = (value: string) =>
      proofProblem({ kind: "generic", proof: "token" }, "key", { authorization: value }, BODY, NOW);
    expect(generic("Bearer key")).to.equal(undefined);
    expect(generic("Bearer other")).to.include("is wrong");
    for (const value of ["key", "Basic key", "Bearer "]) expect(generic(value), value).to.include("is missing");
  });

  it("is never told in a message", () => {
    for (const [kind, proof, headers] of [
      ["github", "signature", { "x-hub-signature-256": "sha256=00" }],
      ["gitlab", "token", { "x-gitlab-token": "wrong" }],
      ["gitlab", "standard", { "webhook-timestamp": String(NOW / 1_000), "webhook-signature": "v1,AA" }],
    ] as const) {
      expect(proofProblem({ kind, proof }, SECRET, headers, BODY, NOW))
        .to.be.a("string")
        .and.not.include(SECRET);
    }
  });
});

describe("the headers of a delivery", () => {
  it("name it under the word of the kind alone", () => {
    const headers = {
      "x-github-delivery": "of-github",
      "x-gitea-delivery": "of-gitea",
      "x-forgejo-delivery": "of-forgejo",
      "x-request-uuid": "of-bitbucket",
      "idempotency-key": "of-generic",
      "webhook-id": "of-standard",
    };
    for (const kind of ["github", "gitea", "forgejo", "bitbucket", "generic"] as const) {
      expect(senderIdOf({ kind, proof: "signature" }, headers)).to.equal(`of-${kind}`);
    }
    expect(senderIdOf({ kind: "gitlab", proof: "standard" }, headers)).to.equal("of-standard");
    expect(senderIdOf({ kind: "github", proof: "signature" }, { "x-github-delivery": "x".repeat(201) })).to.equal(
      undefined,
    );
  });

  it("are kept without what may be a secret, and bounded", () => {
    const kept = keptHeaders({
      "x-hub-signature": "sha256=1",
      "x-gitlab-token": "t",
      authorization: "Bearer t",
      cookie: "c",
      "x-api-key": "k",
      "user-agent": "u".repeat(1_000),
    });
    const values = Object.fromEntries(kept);
    expect(values["user-agent"]).to.have.length(500);
    delete values["user-agent"];
    expect(Object.values(values)).to.deep.equal(Array.from({ length: 5 }, () => "***"));
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`h-${at}`, "v"]));
    expect(keptHeaders(many)).to.have.length(64);
  });
});
