/** The pipelines of the simulation. The planner plans their runs from YAML, as it does in production. */
import { parseDefinition } from "../../../src/definition/parse.ts";
import type { Definition } from "../../../src/definition/definition.ts";
import { asId, type PipelineId } from "../../../src/domain/ids.ts";
import type { RunStatus } from "../../../src/domain/status.ts";
import type { Pipeline } from "../../../src/stores/ports/pipelines.ts";
import { pipelineRecord } from "../../support/pipelines.ts";

export interface Shape {
  readonly name: string;
  readonly definition: Definition;
  /** The statuses with which a run may end to which no user has said anything. */
  readonly ends: readonly RunStatus[];
  /** How users decide approvals. */
  readonly vote: "approve" | "reject";
  /** Runs of the shape must not work at the same time: the runs as a whole, or their jobs. */
  readonly exclusion: "run" | "job" | null;
}

/** What every job has: a short lease, and attempts enough for agents that are lost again and again. */
const JOB = "agentLeaseTimeout: 10s, retry: { attempts: 10 }";

const step = (script: string, more = ""): string => `{ uses: shell, args: { script: ${script} }${more} }`;

/** `more`: further keys of the job, each followed by a comma. */
const job = (name: string, more: string, ...steps: readonly string[]): string =>
  `  - { name: ${name}, ${more} ${JOB}, steps: [${steps.join(", ")}] }`;

const TEXTS: Record<
  string,
  { readonly text: readonly string[]; readonly ends: readonly RunStatus[] } & Partial<Shape>
> = {
  single: { text: [job("only", "", step("work 300"))], ends: ["success"] },
  chain: {
    text: [
      job("build", "", step("work 200"), step("work 700")),
      job("test", "needs: [build],", step("work 1500")),
      job("deploy", "needs: [test],", step("work 100"), step("work 10")),
    ],
    ends: ["success"],
  },
  fanOut: {
    text: [
      job("root", "", step("work 100")),
      job("left", "needs: [root],", step("work 900")),
      job("right", "needs: [root],", step("work 1200")),
      job("join", "needs: [left, right],", step("work 200")),
    ],
    ends: ["success"],
  },
  matrix: {
    text: [job("cells", "matrix: { axes: { v: [a, b, c, d] }, maxParallel: 2 },", step("work 400"))],
    ends: ["success"],
  },
  long: { text: [job("slow", "", step("work 14000")), job("other", "", step("work 9000"))], ends: ["success"] },
  retried: {
    text: [job("flaky", "", step("work 150 fail 2", ", retry: { attempts: 3, delay: 1s }"), step("work 100"))],
    ends: ["success"],
  },
  failing: {
    text: [
      job("bad", "", step("work 200"), step("work 300 exit 3"), step("work 100")),
      job("after", "needs: [bad],", step("work 100")),
      job("cleanup", "when: failure(),", step("work 200")),
    ],
    ends: ["failed"],
  },
  tolerated: {
    text: [job("weak", "continueOnError: true,", step("work 100 exit 2")), job("strong", "", step("work 400"))],
    ends: ["partial"],
  },
  timedOut: { text: [job("hangs", "", step("work 60000", ", timeout: 2s"))], ends: ["failed"] },
  jobTimeout: { text: [job("late", "timeout: 3s,", step("work 1000"), step("work 60000"))], ends: ["failed"] },
  approved: {
    text: [job("plan", "", step("work 200")), job("apply", "needs: [plan], approval: { count: 1 },", step("work 300"))],
    ends: ["success"],
  },
  rejected: {
    text: [job("plan", "", step("work 200")), job("apply", "needs: [plan], approval: { count: 1 },", step("work 300"))],
    ends: ["failed"],
    vote: "reject",
  },
  queueing: {
    text: [
      "concurrency: { group: line, limit: 1 }",
      job("one", "", step("work 500")),
      job("two", "", step("work 300")),
    ],
    ends: ["success"],
    exclusion: "run",
  },
  superseding: {
    text: ["concurrency: { group: newest, limit: 1, onConflict: cancelRunning }", job("one", "", step("work 2500"))],
    ends: ["success", "cancelled"],
    exclusion: "run",
  },
  exclusive: {
    text: [
      job("free", "", step("work 300")),
      job("alone", "concurrency: { group: lock, limit: 1 },", step("work 800"), step("work 200")),
    ],
    ends: ["success"],
  },
  selective: {
    text: [
      job("anywhere", "", step("work 200")),
      job("special", "agentSelector: { matchLabels: { pool: special } }, priority: 5,", step("work 500")),
    ],
    ends: ["success"],
  },
};

export const SHAPES: readonly Shape[] = Object.entries(TEXTS).map(([name, { text, ...shape }]) => {
  const [jobs, keys] = [text.filter((line) => line.startsWith(" ")), text.filter((line) => !line.startsWith(" "))];
  const { definition, diagnostics } = parseDefinition([...keys, "jobs:", ...jobs].join("\n"), "yaml");
  if (definition === undefined) throw new Error(`the shape ${name} has problems: ${JSON.stringify(diagnostics)}`);
  return { name, definition, vote: "approve", exclusion: null, ...shape };
});

export function shapeOf(name: string): Shape {
  const found = SHAPES.find((shape) => shape.name === name);
  if (found === undefined) throw new Error(`there is no shape ${name}`);
  return found;
}

export function pipelineOf({ name }: Shape): Pipeline {
  const by = { createdBy: "simulation", actor: "simulation" };
  return pipelineRecord(asId<PipelineId>(`pl_${name}`), { name, ...by, createdAt: 0, updatedAt: 0 });
}
