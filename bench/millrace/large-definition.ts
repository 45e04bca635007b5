/** A definition of 1,000 steps, like that of a large project: 10 stages with 10 jobs each, most of them alike. */
import type { Definition } from "../../src/definition/definition.ts";
import { renderSpec } from "../../src/definition/edit/render.ts";
import { asId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";

const STAGES = 10;
const JOBS_OF_STAGE = 10;

interface Content {
  /** True leaves out secrets and all builtins except `shell`. */
  readonly runnable: boolean;
}

/** The definition in YAML, about 7,000 lines. */
export function largeText({ runnable }: Content): string {
  return renderSpec(
    {
      namespace: "bench.large",
      variables: { region: "eu", level: 3 },
      env: { IMAGE: "registry.example/${{ variables.region }}/service" },
      stages: numbers(STAGES).map((stage) => ({
        name: `stage-${stage}`,
        jobs: numbers(JOBS_OF_STAGE).map((job) => ({
          name: `job-${stage}-${job}`,
          ...(job > 0 && { needs: [`job-${stage}-${job - 1}`] }),
          when: "success() || startsWith(trigger.ref, 'release/')",
          outputs: { digest: "${{ steps.publish.outputs.digest }}" },
          timeout: "15m",
          env: { REF: "${{ trigger.ref }}", COMPONENT: `component-${stage}-${job}-\${{ variables.region }}` },
          agentSelector: { matchLabels: { os: "linux" } },
          steps: stepsOf(`component-${stage}-${job}`, runnable),
        })),
      })),
    },
    "yaml",
  );
}

/** The input of the planner for the definition. */
export function subjectOf(definition: Definition) {
  return {
    definition,
    trigger: { kind: "manual" as const, ref: "main", payload: { title: "a change", labels: ["a", "b"] } },
    variables: [],
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "large",
    projectId: asId<ProjectId>("default"),
    repoUrl: null,
    runId: asId<RunId>("run_1"),
    attempt: 1,
    revisionId: "rev_1",
  };
}

/** Throws unless the planning succeeded. */
export function expectedPlan({ ok }: { readonly ok: boolean }): void {
  if (!ok) throw new Error("the definition could not be planned");
}

function stepsOf(component: string, runnable: boolean): readonly unknown[] {
  const announce = runnable
    ? { uses: "shell", args: { script: `announce ${component} "$REF"` } }
    : {
        uses: "http",
        args: { url: "https://hooks.example/builds", method: "POST", body: { ref: "${{ trigger.ref }}", component } },
      };
  return [
    runnable ? { uses: "shell", args: { script: "git clone" } } : { uses: "checkout" },
    runnable
      ? { uses: "shell", args: { script: `fetch ${component}-\${{ run.id }}` } }
      : { uses: "cache", args: { key: `${component}-\${{ trigger.ref }}`, paths: ["node_modules"] } },
    ...plainSteps(component),
    { name: "report", uses: "shell", when: "failure()", args: { script: `report ${component}` } },
    {
      id: "publish",
      name: "publish",
      uses: "shell",
      when: "trigger.ref == 'main' && variables.level > 1",
      ...(!runnable && { env: { TOKEN: "${{ secrets.REGISTRY_TOKEN }}" } }),
      args: { script: `publish ${component} "$IMAGE:\${{ run.id }}"` },
      retry: { attempts: 3, delay: "5s" },
      outputs: ["digest"],
    },
    { name: "announce", when: "steps.publish.outputs.digest != ''", ...announce },
  ];
}

function plainSteps(component: string): readonly unknown[] {
  const shell = (name: string, script: string, more: object = {}) => ({
    name,
    uses: "shell",
    ...more,
    args: { script },
  });
  return [
    shell("install", "npm ci"),
    shell(`build ${component}`, `cd ${component}\nmake build LEVEL=\${{ variables.level }}\n`, { timeout: "10m" }),
    shell("lint", `make lint -C ${component}`, { continueOnError: true }),
    shell("test", `make test -C ${component}`, {
      env: { TITLE: "${{ format('{0}: {1}', trigger.ref, trigger.title) }}" },
    }),
    shell("pack", `tar cf ${component}-\${{ run.id }}.tar ${component}/out`),
  ];
}

function numbers(count: number): readonly number[] {
  return [...Array(count).keys()];
}
