import type { Attack } from "../attack.ts";

const JOBS = 1_000;
const STEPS_OF_JOB = 5;
const AT_ONCE = 20;

export const attack: Attack = {
  name: "large-definitions",
  title: "validates, plans, saves and triggers definitions of 5,000 steps, twenty at a time",
  as: "author",
  async run({ tokens, call }, signal) {
    const token = tokens.maintainer;
    const made = await call("POST", "/api/v1/pipelines", { token, body: { name: `large-${Date.now()}` } });
    const { pipelineId } = (made!.body as { detail: { pipelineId: string } }).detail;
    const path = `/api/v1/pipelines/${pipelineId}`;
    const steps = Array.from({ length: STEPS_OF_JOB }, (_, at) => ({
      name: `step ${at}`,
      uses: "shell",
      args: { script: "echo ${{ run.id }}" },
      when: "variables.a == 'x'",
    }));
    const jobs = Array.from({ length: JOBS }, (_, at) => ({
      name: `job-${at}`,
      needs: at === 0 ? [] : [`job-${at - 1}`],
      steps,
    }));
    const spec = { variables: { a: "x" }, jobs };
    await call("POST", `${path}/spec/save`, { token, body: { spec } });
    const attackOn = async (index: number): Promise<void> => {
      for (let round = index; !signal.aborted; round++) {
        if (round % 5 === 3) await call("POST", `${path}/plan`, { token, body: {} });
        else if (round % 20 === 4) await call("POST", `${path}/trigger`, { token, body: {} });
        else if (round % 10 === 9) {
          await call("POST", `${path}/spec/save`, { token, body: { spec: { ...spec, description: `${round}` } } });
        } else await call("POST", `${path}/spec/validate`, { token: tokens.viewer, body: { spec } });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => attackOn(index)));
  },
};
