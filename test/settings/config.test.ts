/** Tests of the settings that nodes and agents read from the environment. */
import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { NO_QUOTAS } from "../../src/domain/quotas.ts";
import { KNOWN_VARIABLES, readAgentConfig, readNodeConfig } from "../../src/settings/config.ts";
import { MillraceError } from "../../src/domain/errors.ts";

const KEY = "0123456789abcdef0123456789abcdef";

function refusal(read: () => unknown): MillraceError {
  try {
    read();
  } catch (error) {
    if (error instanceof MillraceError) return error;
    throw error;
  }
  throw new Error("the settings were not refused");
}

const DAY_MS = 86_400_000;

describe("the environment", () => {
  it("without any variable means the embedded engine on loopback", () => {
    expect(readNodeConfig({})).to.deep.equal({
      given: [],
      roles: ["edge", "gateway", "worker"],
      redis: null,
      mongodb: null,
      objectStorage: null,
      http: { host: "127.0.0.1", port: 8080 },
      grpc: { host: "127.0.0.1", port: 9090 },
      metrics: { host: "127.0.0.1", port: 9464 },
      tls: { http: null, grpc: null, metrics: null },
      trustedProxies: [],
      rateLimits: { token: 1_000_000, address: 600 },
      origins: [],
      publicUrl: null,
      traces: null,
      oidcFile: null,
      workloadIssuersFile: null,
      grpcReflection: true,
      agentsPerSecond: 100,
      dataDir: null,
      storeLimit: null,
      logLimit: { lines: 1_000_000, bytes: 100_000_000 },
      caches: { maxEntryBytes: 2e9, maxProjectBytes: 10e9, retentionMs: 7 * 86_400_000 },
      uploads: { maxBytes: 2e9, maxProjectBytes: 20e9, retentionMs: 30 * 86_400_000, unfinishedMs: 86_400_000 },
      artifacts: { maxFileBytes: 2e9, maxArtifactBytes: 4e9, maxRunBytes: 20e9, retentionMs: 30 * 86_400_000 },
      outgoingNetworks: [],
      git: {
        networks: [],
        knownHostsFile: null,
        caFile: null,
        committer: { name: "millrace", email: "millrace@localhost" },
        cacheBytes: 2e9,
      },
      shards: null,
      eventNamespace: "svc",
      quotas: NO_QUOTAS,
      retention: {
        rules: {
          runs: { ageMs: 90 * DAY_MS, perPipeline: null, perProject: null },
          logs: { ageMs: 30 * DAY_MS, perPipeline: null, perProject: null },
          artifacts: { ageMs: null, perPipeline: null, perProject: null },
          events: { ageMs: null, perPipeline: null, perProject: null },
        },
        recordsMs: 30 * DAY_MS,
        auditMs: 400 * DAY_MS,
      },
      signingKey: null,
      mail: null,
      masterKeys: [],
      bootstrapToken: null,
      registrationToken: null,
      logLevel: null,
    });
  });

  it("reads retention bounds by age and by number, and refuses other values", () => {
    const { rules, recordsMs } = readNodeConfig({
      MILLRACE_KEEP_RUNS: "180d, 1000/pipeline,20000/project",
      MILLRACE_KEEP_LOGS: "forever",
      MILLRACE_KEEP_RECORDS: "12h",
    }).retention;
    expect(rules.runs).to.deep.equal({ ageMs: 180 * DAY_MS, perPipeline: 1_000, perProject: 20_000 });
    expect(rules.logs).to.deep.equal({ ageMs: null, perPipeline: null, perProject: null });
    expect(recordsMs).to.equal(DAY_MS / 2);
    for (const [name, value] of [
      ["MILLRACE_KEEP_RUNS", "90"],
      ["MILLRACE_KEEP_LOGS", "1d,2d"],
      ["MILLRACE_KEEP_EVENTS", "0/pipeline"],
      ["MILLRACE_KEEP_RECORDS", "forever"],
    ] as const) {
      expect(() => readNodeConfig({ [name]: value }), value).to.throw(`${name} must be`);
    }
  });

  it("makes nodes listen on every interface when a Redis or MongoDB is named", () => {
    const config = readNodeConfig({ REDIS_URL: "redis://cache:6379" });
    expect(config.http).to.deep.equal({ host: "", port: 8080 });
    expect(config.redis).to.deep.equal({ url: "redis://cache:6379" });
  });

  it("treats an empty text as unset, since Compose files pass it", () => {
    expect(readNodeConfig({ REDIS_URL: "", MAILBOX_SHARDS: "" })).to.include({ redis: null, shards: null });
  });

  it("reads addresses with names, IPv6 and no host", () => {
    const config = readNodeConfig({
      MILLRACE_HTTP_ADDRESS: ":80",
      MILLRACE_GRPC_ADDRESS: "[::1]:9091",
      MILLRACE_METRICS_ADDRESS: "metrics.internal:0",
    });
    expect(config.http).to.deep.equal({ host: "", port: 80 });
    expect(config.grpc).to.deep.equal({ host: "::1", port: 9091 });
    expect(config.metrics).to.deep.equal({ host: "metrics.internal", port: 0 });
  });

  it("reads the TLS files of each listener, and refuses an incomplete pair", () => {
    const { tls } = readNodeConfig({
      MILLRACE_HTTP_TLS_CERT_FILE: "/c.pem",
      MILLRACE_HTTP_TLS_KEY_FILE: "/k.pem",
      MILLRACE_GRPC_TLS_CERT_FILE: "/gc.pem",
      MILLRACE_GRPC_TLS_KEY_FILE: "/gk.pem",
      MILLRACE_GRPC_TLS_CLIENT_CA_FILE: "/ca.pem",
    });
    expect(tls).to.deep.equal({
      http: { prefix: "MILLRACE_HTTP_TLS", certificateFile: "/c.pem", keyFile: "/k.pem", clientCaFile: null },
      grpc: { prefix: "MILLRACE_GRPC_TLS", certificateFile: "/gc.pem", keyFile: "/gk.pem", clientCaFile: "/ca.pem" },
      metrics: null,
    });
    const halves = {
      MILLRACE_HTTP_TLS_KEY_FILE: "/k.pem",
      MILLRACE_GRPC_TLS_CERT_FILE: "/c.pem",
      MILLRACE_METRICS_TLS_CLIENT_CA_FILE: "/ca.pem",
    };
    const { problems } = refusal(() => readNodeConfig(halves));
    expect(problems.map(({ message }) => message)).to.deep.equal([
      "MILLRACE_HTTP_TLS_CERT_FILE is required with MILLRACE_HTTP_TLS_KEY_FILE",
      "MILLRACE_GRPC_TLS_KEY_FILE is required with MILLRACE_GRPC_TLS_CERT_FILE",
      "MILLRACE_METRICS_TLS_CERT_FILE is required with MILLRACE_METRICS_TLS_CLIENT_CA_FILE: callers show theirs over TLS alone",
    ]);
  });

  it("reads where traces are sent, under its own name and the common one", () => {
    const read = (environment: Readonly<Record<string, string>>) => readNodeConfig(environment).traces;
    expect(read({ MILLRACE_OTLP_ENDPOINT: "http://a:4318", OTEL_EXPORTER_OTLP_ENDPOINT: "http://b" })).to.deep.equal({
      url: "http://a:4318/v1/traces",
      headers: {},
      serviceName: "millrace",
    });
    expect(
      read({
        OTEL_EXPORTER_OTLP_ENDPOINT: "https://b/otlp/v1/traces/",
        OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Basic%20abc=,x=1",
        OTEL_SERVICE_NAME: "ci",
      }),
    ).to.deep.equal({
      url: "https://b/otlp/v1/traces",
      headers: { authorization: "Basic abc=", x: "1" },
      serviceName: "ci",
    });
    for (const wrong of ["collector:4318", "ftp://a", "http://u:p@a"]) {
      expect(() => read({ MILLRACE_OTLP_ENDPOINT: wrong }), wrong).to.throw("MILLRACE_OTLP_ENDPOINT");
    }
    for (const wrong of ["a", "a=%", "a b=c"]) {
      expect(() => read({ OTEL_EXPORTER_OTLP_HEADERS: wrong }), wrong).to.throw("OTEL_EXPORTER_OTLP_HEADERS");
    }
  });

  it("reads the address that users call, and refuses one with a path, a user or another scheme", () => {
    const read = (text: string) => readNodeConfig({ MILLRACE_PUBLIC_URL: text }).publicUrl;
    expect(read("https://CI.example.com:443/")).to.equal("https://ci.example.com");
    expect(read("http://10.0.0.1:8080")).to.equal("http://10.0.0.1:8080");
    for (const wrong of [
      "ci.example.com",
      "https://a.example/ci",
      "https://u:p@a.example",
      "ftp://a.example",
      "https://a?b",
    ]) {
      expect(() => read(wrong), wrong).to.throw(
        "MILLRACE_PUBLIC_URL must be an address such as https://ci.example.com",
      );
    }
  });

  it("switches reflection off", () => {
    expect(readNodeConfig({ MILLRACE_TRUSTED_PROXIES: "10.0.0.0/8, fd00::1" }).trustedProxies).to.deep.equal([
      { address: "10.0.0.0", bits: 8 },
      { address: "fd00::1", bits: 128 },
    ]);
    for (const wrong of ["10.0.0.0/33", "proxy.example", "10.0.0.0/8/8", "10.0.0.1,"]) {
      const { message } = refusal(() => readNodeConfig({ MILLRACE_TRUSTED_PROXIES: wrong }));
      expect(message, wrong).to.include("must be networks such as 10.0.0.0/8");
    }
    expect(readNodeConfig({ MILLRACE_GRPC_REFLECTION: "off" }).grpcReflection).to.equal(false);
    expect(refusal(() => readNodeConfig({ MILLRACE_GRPC_REFLECTION: "no" })).message).to.include("on or off");
  });

  it("uses TLS for an agent with a certificate, which needs its key", () => {
    const set = { MILLRACE_GATEWAY_CERT_FILE: "/c.pem", MILLRACE_GATEWAY_KEY_FILE: "/k.pem" };
    expect(readAgentConfig(set)).to.deep.include({
      security: "tls",
      clientCertificate: { certificateFile: "/c.pem", keyFile: "/k.pem" },
    });
    expect(readAgentConfig({})).to.include({ security: null, clientCertificate: null });
    const half = { MILLRACE_GATEWAY_KEY_FILE: "/k.pem" };
    expect(refusal(() => readAgentConfig(half)).message).to.include("MILLRACE_GATEWAY_CERT_FILE is required with");
  });

  it("reads the nodes of a Redis Cluster", () => {
    expect(readNodeConfig({ REDIS_CLUSTER_NODES: "a:7000, b:7001" }).redis).to.deep.equal({
      cluster: [
        { host: "a", port: 7000 },
        { host: "b", port: 7001 },
      ],
    });
  });

  it("is refused with all problems at once, with their variables and without their values", () => {
    const error = refusal(() =>
      readNodeConfig({
        MILLRACE_ROLES: "edge,cook",
        REDIS_URL: "http://user:hunter2@cache",
        MILLRACE_HTTP_ADDRESS: "8080",
        MAILBOX_SHARDS: "0",
        EVENT_NAMESPACE: "Svc.",
        MILLRACE_SIGNING_KEY: "hunter2",
        MILLRACE_MASTER_KEY: "hunter2",
        MILLRACE_BOOTSTRAP_TOKEN: "hunter2",
        LOG_LEVEL: "loud",
      }),
    );
    expect(error.reason).to.equal("malformed_request");
    expect(error.problems.map(({ pointer }) => pointer)).to.have.members([
      "/MILLRACE_ROLES",
      "/REDIS_URL",
      "/MILLRACE_HTTP_ADDRESS",
      "/MAILBOX_SHARDS",
      "/EVENT_NAMESPACE",
      "/MILLRACE_SIGNING_KEY",
      "/MILLRACE_MASTER_KEY",
      "/MILLRACE_BOOTSTRAP_TOKEN",
      "/LOG_LEVEL",
    ]);
    for (const { pointer } of error.problems) expect(error.message).to.include(pointer.slice(1));
    expect(error.message).not.to.include("hunter2");
  });

  it("refuses ports that do not exist", () => {
    expect(refusal(() => readNodeConfig({ MILLRACE_HTTP_ADDRESS: ":65536" })).message).to.include("65535");
  });

  it("reads the limit of the embedded store with a unit, and refuses the limit for another store", () => {
    const limitOf = (text: string) => readNodeConfig({ MILLRACE_STORE_LIMIT: text }).storeLimit;
    expect(limitOf("20GB")).to.equal(20e9);
    expect(limitOf("512 MiB")).to.equal(512 * 2 ** 20);
    for (const text of ["20", "0MB", "1.5GB", "20gb", "GB", "-1GB", "20GBx"]) {
      expect(refusal(() => limitOf(text)).message, text).to.include("such as 20GB");
    }
    const elsewhere = { MONGODB_URL: "mongodb://db/", MILLRACE_ROLES: "worker", MILLRACE_STORE_LIMIT: "20GB" };
    expect(refusal(() => readNodeConfig(elsewhere)).message).to.include("MILLRACE_STORE_LIMIT bounds SQLite");
  });

  it("reads quotas of projects and of agents, and explains their syntax", () => {
    const quotasOf = (MILLRACE_QUOTAS: string) => readNodeConfig({ MILLRACE_QUOTAS }).quotas;
    expect(readNodeConfig({}).quotas).to.deep.equal(NO_QUOTAS);
    expect(readNodeConfig({ MILLRACE_MAX_RUNNING_PER_PROJECT: "20" }).quotas.everyProject).to.equal(20);
    expect(quotasOf("project:default=4, label:pool=gpu=2,label:expr=a=b=1")).to.deep.equal({
      everyProject: null,
      projects: new Map([["default", 4]]),
      labels: [
        { key: "pool", value: "gpu", limit: 2 },
        { key: "expr", value: "a=b", limit: 1 },
      ],
    });
    for (const text of [
      "default=4",
      "project:default",
      "project:default=0",
      "label:pool=2",
      "label:=gpu=2",
      "project:a=1,",
    ]) {
      expect(refusal(() => quotasOf(text)).message, text).to.include("MILLRACE_QUOTAS must be project:<id>=<number>");
    }
    expect(refusal(() => quotasOf("project:a=1,project:a=2")).message).to.include("must name project:a once");
  });

  it("reads the mail server, whose user and password may stand apart from its address", () => {
    const from = { MILLRACE_MAIL_FROM: "millrace <ci@mail.example>" };
    const mailOf = (environment: Record<string, string>) => readNodeConfig({ ...from, ...environment }).mail;
    expect(readNodeConfig({}).mail).to.equal(null);
    expect(mailOf({ MILLRACE_SMTP_URL: "smtps://c%40i:s3same@mail.example" })).to.deep.equal({
      host: "mail.example",
      port: 465,
      tls: true,
      user: "c@i",
      password: "s3same",
      from: "millrace <ci@mail.example>",
    });
    const apart = { MILLRACE_SMTP_URL: "smtp://[::1]:2525", MILLRACE_SMTP_USER: "ci", MILLRACE_SMTP_PASSWORD: "p" };
    expect(mailOf(apart)).to.deep.include({ host: "::1", port: 2525, tls: false, user: "ci", password: "p" });
    for (const text of ["mail.example", "https://mail.example", "smtp://a/b", "smtp://u:s3s%ame@a", "smtp://"]) {
      const { message } = refusal(() => mailOf({ MILLRACE_SMTP_URL: text }));
      expect(message, text).to.include("MILLRACE_SMTP_URL must be an address").and.not.to.include("s3s");
    }
    for (const sender of ["ada", "Ada <a>", "a@b\r\nBcc: c@d", "a@b, c@d"]) {
      const given = { MILLRACE_SMTP_URL: "smtp://a", MILLRACE_MAIL_FROM: sender };
      expect(refusal(() => readNodeConfig(given)).message, sender).to.include("MILLRACE_MAIL_FROM must be");
    }
    expect(refusal(() => readNodeConfig(from)).message).to.include("MILLRACE_SMTP_URL is required");
    expect(refusal(() => readNodeConfig({ MILLRACE_SMTP_URL: "smtp://a" })).message).to.include("MILLRACE_MAIL_FROM");
  });

  it("refuses two kinds of Redis together", () => {
    const error = refusal(() => readNodeConfig({ REDIS_URL: "redis://a", REDIS_CLUSTER_NODES: "a:1" }));
    expect(error.message).to.include("REDIS_CLUSTER_NODES and REDIS_URL exclude each other");
  });

  it("reads master keys in hexadecimal digits and in base64, the encrypting key first", () => {
    const [one, other] = [randomBytes(32), randomBytes(32)];
    const keysOf = (text: string) => readNodeConfig({ MILLRACE_MASTER_KEY: text }).masterKeys;
    expect(keysOf(one.toString("hex"))).to.deep.equal([one]);
    expect(keysOf(`${one.toString("base64")}, ${other.toString("base64url")}`)).to.deep.equal([one, other]);
    expect(readNodeConfig({}).masterKeys).to.deep.equal([]);
    for (const text of ["ab", "x".repeat(64), "ab".repeat(33), `${"ab".repeat(32)},`, "A".repeat(42), "A".repeat(86)]) {
      expect(refusal(() => keysOf(text)).message, text).to.include("MILLRACE_MASTER_KEY must be 32 random bytes");
    }
  });

  it("requires a signing key and a master key when several nodes must share them", () => {
    const scaled = { MONGODB_URL: "mongodb://db/" };
    expect(refusal(() => readNodeConfig(scaled)).message).to.include("MILLRACE_SIGNING_KEY");
    expect(readNodeConfig({ ...scaled, MILLRACE_ROLES: "worker" }).signingKey).to.equal(null);
    const signing = { ...scaled, MILLRACE_SIGNING_KEY: KEY };
    expect(refusal(() => readNodeConfig(signing)).message).to.include("MILLRACE_MASTER_KEY");
    const config = readNodeConfig({ ...signing, MILLRACE_MASTER_KEY: "ab".repeat(32) });
    expect(config.signingKey).to.have.length(32);
    expect(config.mongodb).to.deep.equal({ url: "mongodb://db/", database: "millrace" });
  });

  it("reads an agent's labels, also with empty values and equals signs", () => {
    expect(readAgentConfig({ MILLRACE_AGENT_LABELS: "os=linux, expr=a=b,gpu=" }).labels).to.deep.equal({
      os: "linux",
      expr: "a=b",
      gpu: "",
    });
    for (const text of ["linux", "a=b,", "a=b,a=c", "a=b,c=d, a ="]) {
      expect(refusal(() => readAgentConfig({ MILLRACE_AGENT_LABELS: text })).message, text).to.include("key=value");
    }
    expect(readAgentConfig({ MILLRACE_AGENT_LABELS: "a=b, a = b" }).labels).to.deep.equal({ a: "b" });
  });

  it("bounds an agent's slots", () => {
    expect(readAgentConfig({ MILLRACE_AGENT_SLOTS: "1000" }).slots).to.equal(1_000);
    expect(refusal(() => readAgentConfig({ MILLRACE_AGENT_SLOTS: "1001" })).message).to.include("MILLRACE_AGENT_SLOTS");
  });

  it("lists the names of all variables", () => {
    expect(KNOWN_VARIABLES).to.include.members([
      "MILLRACE_ROLES",
      "MILLRACE_GATEWAY",
      "REDIS_CLUSTER_NODES",
      "LOG_LEVEL",
    ]);
  });
});
