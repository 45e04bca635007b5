/** Restate with a service call for each step: a server, and one process with the services. */
import { Agent, request } from "node:http";
import { join } from "node:path";
import { Teardown } from "../../../src/node/teardown.ts";
import { systemOf } from "../../measure/engine.ts";
import { SystemProcess } from "../../measure/system-process.ts";
import type { StartSystem } from "../../system.ts";
import { startRestateServer } from "./server.ts";

/** Needs the packages that `installPeers` installs. */
export const startRestate: StartSystem = async (folder, marks) => {
  const started = new Teardown({ warn: console.warn });
  try {
    const server = await startRestateServer(folder);
    started.add("the Restate server", () => server.stop());
    const program = new URL("./services.mjs", import.meta.url);
    const env = { RESTATE_LOGGING: "WARN" };
    const services = await SystemProcess.start<number>(program, env, join(folder, "services.log"));
    started.add("the services", () => services.process.stop());
    const agent = new Agent({ keepAlive: true });
    started.add("the connections", () => agent.destroy());
    await post(agent, server.adminPort, "/deployments", { uri: `http://127.0.0.1:${services.ready}` });

    return systemOf(
      {
        name: "Restate",
        throughputRuns: 500,
        processes: [
          { name: "control plane", pid: server.pid },
          { name: "agent", pid: services.process.pid, runsSteps: true },
        ],
        // The ingress answers when the run has ended.
        run: (request) => post(agent, server.ingressPort, "/run/run", request),
        takeStepCounts: () => services.process.takeStepCounts(),
        broken: Promise.race([server.broken, services.process.broken]),
        stop: () => started.end(),
      },
      marks,
    );
  } catch (error) {
    await started.end();
    throw error;
  }
};

/** Resolves when the answer is complete. Rejects unless its status is from 200 to 299. */
function post(agent: Agent, port: number, path: string, body: unknown): Promise<void> {
  const text = JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const call = request({ host: "127.0.0.1", port, path, method: "POST", agent, headers }, (answer) => {
      const status = answer.statusCode ?? 0;
      let received = "";
      answer.setEncoding("utf8").on("data", (part: string) => (received += part));
      answer.once("error", reject);
      answer.once("end", () => {
        if (status >= 200 && status < 300) resolve();
        else reject(new Error(`Restate answered ${status} to ${path}: ${received.slice(0, 500)}`));
      });
    });
    call.once("error", reject);
    call.end(text);
  });
}
