import type { Attack } from "../attack.ts";

const KEYS = 400_000;
const AT_ONCE = 8;

export const attack: Attack = {
  name: "unknown-keys",
  title: "logs in with bodies of 400,000 unknown short keys, eight at a time",
  as: "anyone",
  async run(target, signal) {
    const keys = Array.from({ length: KEYS }, (_, index) => `"${index.toString(36)}":0`);
    const body = `{${keys.join(",")}}`;
    const attackOn = async () => {
      while (!signal.aborted) await target.call("POST", "/api/v1/auth/login", { body });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, attackOn));
  },
};
