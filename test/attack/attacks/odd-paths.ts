import type { Attack } from "../attack.ts";

const AT_ONCE = 16;
const LONG_QUERY = `?${"a&".repeat(7_000)}`;
const PATHS = [
  `/API/v1/pipelines${LONG_QUERY}`,
  "/API/V1/PIPELINES",
  "/api/v1/Users",
  "/api/v1//users",
  "/api/v1/users/..;/users",
  "/api/v1/%75sers",
  "/api/v1/users%00",
  "/healthz/../api/v1/users",
] as const;

export const attack: Attack = {
  name: "odd-paths",
  title: "calls paths in other cases and spellings, with long queries and bodies",
  as: "anyone",
  async run(target, signal) {
    const body = JSON.stringify({ name: "x".repeat(100_000) });
    const attackOn = async (start: number) => {
      for (let index = start; !signal.aborted; index++) {
        await target.call("POST", PATHS[index % PATHS.length]!, { body });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => attackOn(index)));
  },
};
