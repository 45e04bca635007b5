/** The agent as a separate process: `agent-main.ts ADDRESS DATA_DIR [ENGINE]`. SIGTERM ends it. */
import { runAgent } from "../../src/agent/run-agent.ts";
import { SILENT } from "./test-agent.ts";
import { REGISTRATION_TOKEN } from "./test-gateway.ts";

const [address = "", dataDir = "", engine] = process.argv.slice(2);
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
await runAgent(
  {
    address,
    dataDir,
    name: "tester",
    labels: {},
    slots: 2,
    registrationToken: REGISTRATION_TOKEN,
    log: SILENT,
    facts: true,
    minFreeDisk: { bytes: 0, percent: 0 },
    logBufferBytes: 64 * 1024 * 1024,
    drainTimeoutMs: 1_000,
    ...(engine === "podman" || engine === "docker" ? { containers: { engine, images: [] } } : {}),
  },
  stop.signal,
);
