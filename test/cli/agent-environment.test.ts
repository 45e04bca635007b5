import { expect } from "chai";
import { agentEnvironment } from "../../src/cli/agent-environment.ts";

describe("the environment of a local agent", () => {
  it("holds no token with which the user calls a server", () => {
    const inherited = { PATH: "/bin", MILLRACE_URL: "https://ci.example", MILLRACE_TOKEN: "of the user" };
    const environment = agentEnvironment(inherited, { MILLRACE_REGISTRATION_TOKEN: "of the agent" });
    expect(environment).to.include({ PATH: "/bin", MILLRACE_REGISTRATION_TOKEN: "of the agent" });
    expect(environment).not.to.have.any.keys("MILLRACE_URL", "MILLRACE_TOKEN");
  });

  it("takes settings of the starting process before its standards, and its own before both", () => {
    const inherited = { MILLRACE_AGENT_NAME: "mine", MILLRACE_GATEWAY: "elsewhere:1" };
    const environment = agentEnvironment(inherited, { MILLRACE_GATEWAY: "here:1" });
    expect(environment).to.include({ MILLRACE_AGENT_NAME: "mine", MILLRACE_GATEWAY: "here:1", LOG_LEVEL: "warn" });
  });
});
