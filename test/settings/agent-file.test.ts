/** Tests of the agent's config file. */
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { AGENT_SETTINGS, readAgentConfigFile } from "../../src/settings/agent-file.ts";
import { KNOWN_VARIABLES, readAgentConfig } from "../../src/settings/config.ts";
import { MillraceError } from "../../src/domain/errors.ts";

const read = (text: string) => readAgentConfigFile(text, "agent.yaml");

function problemsOf(text: string): readonly string[] {
  try {
    read(text);
  } catch (error) {
    if (error instanceof MillraceError) return error.problems.map(({ message }) => message);
    throw error;
  }
  return [];
}

describe("the config file of an agent", () => {
  it("sets the same settings as the environment variables", () => {
    const text = `
      gateway: gateway.example:9090
      security: tls
      registration-token: "0123456789"
      slots: 4
      max-jobs: 3
      idle-exit: 5m
      labels: { pool: linux, gpu: "", cores: 08 }
      facts: off
      drain-timeout: 1h30m
      min-free-disk: 5%
      log-buffer: 1 GiB
      log-level: warn
    `;
    expect(readAgentConfig(read(text))).to.deep.include({
      gateway: { host: "gateway.example", port: 9090 },
      security: "tls",
      registrationToken: "0123456789",
      slots: 4,
      maxJobs: 3,
      idleExitMs: 300_000,
      labels: { pool: "linux", gpu: "", cores: "08" },
      facts: false,
      drainTimeoutMs: 5_400_000,
      minFreeDisk: { bytes: Number.MAX_SAFE_INTEGER, percent: 5 },
      logBufferBytes: 2 ** 30,
      logLevel: "warn",
    });
  });

  it("accepts labels in the form of the variable, and may be empty", () => {
    expect(read("labels: os=linux,gpu=yes")).to.deep.equal({ MILLRACE_AGENT_LABELS: "os=linux,gpu=yes" });
    for (const empty of ["", "# nothing but this\n", "{}"]) expect(read(empty), empty).to.deep.equal({});
  });

  it("is refused with every problem, with places and advice and without values", () => {
    const text = [
      "gateway: nowhere",
      "slot: 3",
      "slots: 2000",
      "registration-token:",
      "labels:",
      "  a: [hunter2]",
      "drain-timeout: hunter2",
      "min-free-disk: 50",
    ].join("\n");
    const problems = problemsOf(text);
    expect(problems).to.deep.equal([
      "agent.yaml:1:10: gateway must be host:port or :port, with a port up to 65535",
      `agent.yaml:2:1: unknown key "slot": use one of ${Object.keys(AGENT_SETTINGS).join(", ")}`,
      "agent.yaml:3:8: slots must be from 1 to 1000",
      "agent.yaml:4:20: registration-token has no value",
      'agent.yaml:6:3: labels must be a map of texts, and "a" is not a text',
      "agent.yaml:7:16: drain-timeout must be a duration such as 90s or 15m, up to 24h",
      "agent.yaml:8:16: min-free-disk must be a size such as 2GB, a percentage of the disk such as 5%, or 0",
    ]);
    expect(() => read(text)).to.throw(MillraceError, /has problems:\n {2}agent\.yaml:1:10: .*\n.*unknown key/);
  });

  it("is refused when it is not YAML, not a map, or has a key twice", () => {
    expect(problemsOf("slots: 'one")[0]).to.match(/^agent\.yaml:1:\d+: Missing closing 'quote/);
    expect(problemsOf("- slots")).to.deep.equal(["agent.yaml:1:1: the file must be a map of options to their values"]);
    expect(problemsOf("slots: 1\nslots: 2")[0]).to.match(/^agent\.yaml:2:1: Map keys must be unique/);
    expect(problemsOf("labels: { a: 'x,y' }")[0]).to.include('cannot hold "a": a label has no comma');
  });

  it("has a key for every variable of an agent", () => {
    const agentVariables = KNOWN_VARIABLES.filter((name) => /^MILLRACE_(?:AGENT|GATEWAY)(?:_|$)/.test(name));
    const others = ["MILLRACE_AGENT_CONFIG"];
    expect([...Object.values(AGENT_SETTINGS), ...others]).to.include.members(agentVariables);
  });

  it("is valid in the example, which names every key", () => {
    const example = readFileSync(new URL("../../examples/agent/agent.yaml", import.meta.url), "utf8");
    expect(readAgentConfig(read(example))).to.include({ security: "tls", slots: 4 });
    const commented = example.replaceAll(/^# ([a-z-]+:.*)$/gm, "$1");
    expect(Object.values(AGENT_SETTINGS)).to.have.members(Object.keys(read(commented)));
  });
});
