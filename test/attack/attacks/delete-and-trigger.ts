import type { Attack } from "../attack.ts";

const TRIGGERS = 40;

export const attack: Attack = {
  name: "delete-and-trigger",
  title: "deletes pipelines by force while forty triggers of each are on their way",
  as: "author",
  async run(target, signal) {
    const token = target.tokens.maintainer;
    const steps = [{ name: "step", uses: "shell", args: { script: "sleep 30" } }];
    const spec = { jobs: [{ name: "job", agentSelector: { matchLabels: { name: "none" } }, steps }] };
    for (let round = 0; !signal.aborted; round++) {
      const made = await target.call("POST", "/api/v1/pipelines", { token, body: { name: `deleted ${round}` } });
      const detail = (made?.body as { readonly detail?: { readonly pipelineId: string } } | undefined)?.detail;
      if (detail === undefined) continue;
      const at = `/api/v1/pipelines/${detail.pipelineId}`;
      await target.call("POST", `${at}/spec/save`, { token, body: { spec } });
      const triggers = Array.from({ length: TRIGGERS }, () =>
        target.call("POST", `${at}/trigger`, { token, body: {} }),
      );
      await target.call("DELETE", `${at}?force=true`, { token });
      await Promise.all(triggers);
    }
  },
};
