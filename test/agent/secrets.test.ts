/**
 * A real agent never reveals the secrets of a step: not in its log, its outputs, its reports or the agent's own files.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Logger } from "../../src/domain/logger.ts";
import { AgentBench, type TestAgent } from "./test-agent.ts";

const SECRET = "hunter22-of-the-agent";
const LINES = "first line of it\nsecond line of it\n";

describe("a step with secrets", () => {
  let bench: AgentBench;
  let agent: TestAgent;
  let logged = "";
  const record: Logger["info"] = (...line) => void (logged += JSON.stringify(line));
  beforeEach(async () => {
    logged = "";
    bench = await new AgentBench().open();
    agent = await bench.start({ log: { debug: record, info: record, warn: record, error: record } });
  });
  afterEach(() => bench.end());

  const env = [
    { name: "SECRET", value: SECRET },
    { name: "LINES", value: LINES },
  ];
  const dispatch = (script: string) => bench.gateway.dispatch({ script, env, secrets: [SECRET, LINES] });
  async function logOfEnd() {
    const end = await bench.gateway.endOf();
    return { end, log: (await bench.gateway.logOf(end.lastLine)).map(({ content }) => content) };
  }

  it("shows no secret in its log: plain, encoded, line by line, or written in pieces", async () => {
    dispatch(`
      echo "plain $SECRET."
      printf '%s' "$SECRET" | base64
      printf 'user:%s' "$SECRET" | base64 >&2
      printf hunter22; sleep 0.1; printf -- "-of-the-"; sleep 0.1; echo agent
      printf %s "$LINES" | sed 's/^/> /'
      set -x; true "$SECRET"`);
    const { end, log } = await logOfEnd();
    expect(end).to.include({ phase: "STEP_PHASE_SUCCEEDED" });
    expect(log).to.have.length(7);
    for (const line of log) expect(line).to.include("***");
    const text = log.join("\n");
    for (const form of [SECRET, "hunter22", "line of it", Buffer.from(SECRET).toString("base64").slice(0, 8)]) {
      expect(text).not.to.include(form);
    }
    expect(log).to.include.members(["plain ***.", "> ***", "***"]);
  });

  it("loses only the outputs that hold a secret, and its log names them", async () => {
    dispatch(`
      echo "token=$SECRET" >> "$MILLRACE_OUTPUT"
      echo "encoded=$(printf %s "$SECRET" | base64)" >> "$MILLRACE_OUTPUT"
      echo "version=1.2.3" >> "$MILLRACE_OUTPUT"
      echo done`);
    const { end, log } = await logOfEnd();
    expect(end).to.deep.include({ phase: "STEP_PHASE_SUCCEEDED", outputs: { version: "1.2.3" }, lastLine: 3n });
    expect(log).to.deep.equal([
      "done",
      "millrace: the output token holds a secret, so it is not taken",
      "millrace: the output encoded holds a secret, so it is not taken",
    ]);
  });

  it("loses every output that holds a part of a folded secret", async () => {
    const long = "x".repeat(20) + SECRET.repeat(4);
    bench.gateway.dispatch({
      script: `
        echo "first=1" >> "$MILLRACE_OUTPUT"
        echo "basic=$(printf %s "$LONG" | base64)" >> "$MILLRACE_OUTPUT"
        echo "last=2" >> "$MILLRACE_OUTPUT"`,
      env: [{ name: "LONG", value: long }],
      secrets: [long],
    });
    const { end, log } = await logOfEnd();
    expect(Buffer.from(long).toString("base64")).to.have.length.above(76).and.to.match(/=$/);
    expect(end).to.deep.include({ phase: "STEP_PHASE_SUCCEEDED", outputs: { first: "1", last: "2" } });
    expect(log).to.deep.equal([
      "millrace: the output basic holds a secret, so it is not taken",
      "millrace: the output *** holds a secret, so it is not taken",
    ]);
  });

  it("shows no secret in the reason why it could not start", async () => {
    bench.gateway.dispatch({ uses: `plugin/${SECRET}@v1`, secrets: [SECRET] });
    const { phase, reason } = await bench.gateway.endOf();
    expect(phase).to.equal("STEP_PHASE_FAILED");
    expect(reason).to.include("***").and.not.include("hunter");
  });

  it("leaves no secret in the files and the log of the agent", async () => {
    dispatch(`echo "$SECRET"; echo "token=$SECRET" >> "$MILLRACE_OUTPUT"; exit 3`);
    const { end } = await logOfEnd();
    expect(end).to.include({ exitCode: 3 });
    const files = (await readdir(bench.dataDir, { recursive: true, withFileTypes: true })).filter((file) =>
      file.isFile(),
    );
    expect(files.map(({ name }) => name)).to.include("journal.jsonl");
    for (const { parentPath, name } of files) {
      expect(await readFile(join(parentPath, name), "latin1"), name).not.to.include("hunter22");
    }
    await agent.kill();
    expect(logged).to.include("a step run has ended").and.not.to.include("hunter22");
  });
});
