/** Repositories, and an agent that runs steps of the builtin `checkout`. */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { TestRepository } from "../../support/git-server.ts";
import { until } from "../../support/until.ts";
import { AgentBench } from "../test-agent.ts";

export interface EndedCheckout {
  readonly phase: string;
  readonly exitCode: number;
  readonly reason: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly log: readonly string[];
}

export class CheckoutBench {
  /** The folder with the repositories. */
  readonly folder: string;
  /**
   * Its README holds `one` to `three` on main, which is tagged v1.0 at its first commit, and `branched` on
   * feature/login.
   */
  readonly code: TestRepository;
  /** The commits of `code`, in their order. */
  readonly commits: readonly string[];
  agent!: AgentBench;
  #steps = 0;

  private constructor(folder: string) {
    this.folder = folder;
    const code = new TestRepository(folder, "code");
    const [one, two] = [code.commit("README", "one\n"), code.commit("README", "two\n")];
    code.git("tag", "--annotate", "--message", "first", "v1.0", one);
    this.commits = [one, two, code.commit("README", "three\n"), code.commit("README", "branched\n", "feature/login")];
    code.git("push", "--quiet", "origin", "v1.0", "HEAD:refs/pull/1/head");
    code.git("checkout", "--quiet", "main");
    this.code = code;
  }

  static async create(): Promise<CheckoutBench> {
    return new CheckoutBench(await mkdtemp(join(tmpdir(), "millrace-git-")));
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  async startAgent(): Promise<void> {
    this.#steps = 0;
    this.agent = await new AgentBench().open();
    await this.agent.start();
  }

  get workspace(): string {
    return join(this.agent.dataDir, "work", "job_1");
  }

  readme(...path: string[]): string {
    return readFileSync(join(this.workspace, ...path, "README"), "utf8");
  }

  /** Dispatches a checkout, and returns the id of its step run. `more` holds further fields of the dispatch. */
  start(args: object, more: object = {}): string {
    const stepRunId = `step_${++this.#steps}`;
    this.agent.gateway.dispatch({ uses: "checkout", argsJson: JSON.stringify(args), stepRunId, ...more });
    return stepRunId;
  }

  async endOf(stepRunId: string): Promise<EndedCheckout> {
    const { gateway } = this.agent;
    const isEnd = (report: { stepRunId: string; phase: string }): boolean =>
      report.stepRunId === stepRunId && report.phase !== "STEP_PHASE_STARTED";
    const end = await until(`the end of ${stepRunId}`, () => gateway.reports.find(isEnd), 30_000);
    const { phase, exitCode, reason, outputs, lastLine } = end;
    const log = (await gateway.logOf(lastLine, stepRunId)).map(({ content }) => content);
    return { phase, exitCode, reason, outputs, log };
  }

  async check(args: object, more?: object): Promise<EndedCheckout> {
    const end = await this.endOf(this.start(args, more));
    expect(end, end.log.join("\n")).to.include({ phase: "STEP_PHASE_SUCCEEDED", exitCode: 0 });
    return end;
  }

  /** Expects a checkout to fail with this exit code, and with `text` in a line. Of two streams, no line is surely the last. */
  async fails(args: object, exitCode: number, text: string, more?: object): Promise<EndedCheckout> {
    const end = await this.endOf(this.start(args, more));
    expect(end, end.log.join("\n")).to.include({ phase: "STEP_PHASE_FAILED", exitCode });
    expect(end.log.join("\n")).to.include(text);
    expect(end.reason).to.match(new RegExp(`^exit code ${exitCode}: `));
    return end;
  }
}
