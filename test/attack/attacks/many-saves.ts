import type { Attack } from "../attack.ts";

const AT_ONCE = 100;

export const attack: Attack = {
  name: "many-saves",
  title: "saves one definition 100 times at once, without an expected head",
  as: "author",
  async run(target, signal) {
    const token = target.tokens.maintainer;
    const made = await target.call("POST", "/api/v1/pipelines", { token, body: { name: "saved by many" } });
    const { pipelineId } = (made!.body as { readonly detail: { readonly pipelineId: string } }).detail;
    const save = (version: string) => {
      const steps = [{ name: "step", uses: "shell", args: { script: "true" } }];
      const body = { spec: { version, jobs: [{ name: "job", steps }] } };
      return target.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, { token, body });
    };
    for (let round = 0; !signal.aborted; round++) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => save(`${round}.${index}`)));
    }
  },
};
