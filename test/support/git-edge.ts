/** An edge with definitions in Git, and the Git server that has them. */
import { expect } from "chai";
import { systemClock } from "../../src/domain/clock.ts";
import { apiSender } from "../../src/node/git.ts";
import { InstallationTokens } from "../../src/providers/installation-tokens.ts";
import { openProvider } from "../../src/providers/provider-client.ts";
import type { BareRepository } from "./bare-repository.ts";
import { type Answer, openTestEdge, type TestEdge } from "./edge.ts";
import { GitWorld } from "./git-engine.ts";

/** Where a definition is in its repository. */
export const DEFINITION_PATH = ".millrace/pipeline.yaml";

/** A definition with comments. */
export function textOf(script: string): string {
  return `# The build.\njobs:\n  - name: build # one job\n    steps:\n      - uses: shell\n        args: { script: ${script} }\n`;
}

/** What {@link textOf} holds. */
export function specOf(script: string): object {
  return { jobs: [{ name: "build", steps: [{ uses: "shell", args: { script } }] }] };
}

export interface ConnectedPipeline {
  readonly origin: BareRepository;
  readonly pipelineId: string;
  /** The commit of the definition. */
  readonly head: string;
}

export class GitEdge {
  readonly world: GitWorld;
  readonly edge: TestEdge;
  #names = 0;

  private constructor(world: GitWorld, edge: TestEdge) {
    this.world = world;
    this.edge = edge;
  }

  static async open(): Promise<GitEdge> {
    const world = await new GitWorld().start();
    const committer = { name: "millrace", email: "millrace@example.org" };
    const send = apiSender({ networks: [{ address: "127.0.0.0", bits: 8 }], caFile: null });
    const edge = await openTestEdge({
      git: {
        repositories: world.engine,
        committer,
        openProvider: (place, credential) => openProvider(place, credential, send),
        appTokens: new InstallationTokens({ send, clock: systemClock }),
      },
    });
    const { user, password } = world.server.expected!;
    const body = { name: "CODE", value: `${user}:${password}` };
    await edge.call("POST", "/api/v1/projects/default/secrets", { body });
    return new GitEdge(world, edge);
  }

  async close(): Promise<void> {
    await this.edge.close();
    await this.world.stop();
  }

  /** Creates a pipeline; an inline one without fields. */
  create(fields: object = {}): Promise<Answer> {
    return this.edge.call("POST", "/api/v1/pipelines", { body: { name: `p${++this.#names}`, ...fields } });
  }

  /** A pipeline whose repository has the definition. */
  async connected(script = "echo 1"): Promise<ConnectedPipeline> {
    const { origin, repository } = this.world.newRepository();
    const head = origin.commit({ [DEFINITION_PATH]: textOf(script), other: "x" });
    const created = await this.create({ repoUrl: repository.remote.url, repoCredential: "CODE" });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    return { origin, pipelineId: created.body.detail.pipelineId, head };
  }

  save(pipelineId: string, body: object, options: object = {}): Promise<Answer> {
    return this.edge.call("POST", at(pipelineId, "/spec/save"), { body, ...options });
  }

  /** The answer to a read of the definition. */
  async spec(pipelineId: string, query = "") {
    return (await this.edge.call("GET", at(pipelineId, `/spec${query}`))).body.detail;
  }

  async revisionsOf(pipelineId: string) {
    return (await this.edge.call("GET", at(pipelineId, "/revisions"))).body.detail.list;
  }
}

export function at(pipelineId: string, rest = ""): string {
  return `/api/v1/pipelines/${pipelineId}${rest}`;
}

/** The definition that a branch has. */
export function fileOf(origin: BareRepository): string {
  return `${origin.git(["show", `main:${DEFINITION_PATH}`])}\n`;
}
