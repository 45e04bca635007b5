import type { Attack } from "../attack.ts";

const AT_ONCE = 16;

export const attack: Attack = {
  name: "long-queries",
  title: "sends queries of 15 kB with 7,000 parameters, without a token and as a viewer",
  as: "viewer",
  async run(target, signal) {
    const path = `/api/v1/pipelines?${"a&".repeat(7_000)}`;
    const attackOn = async (options: { readonly token?: string }) => {
      while (!signal.aborted) await target.call("GET", path, options);
    };
    const callers = Array.from({ length: AT_ONCE }, (_, index) => (index % 2 ? {} : { token: target.tokens.viewer }));
    await Promise.all(callers.map(attackOn));
  },
};
