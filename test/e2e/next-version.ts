/** `serve` of an imagined next release: this program with a stored format that is one schema ahead. */
import { createLogger } from "../../src/cli/logging.ts";
import { readNodeConfig } from "../../src/settings/config.ts";
import { startNode } from "../../src/node/node.ts";
import { NEXT_FORMAT } from "../support/next-format.ts";

const [, , , , roles] = process.argv;
const config = readNodeConfig({ ...process.env, MILLRACE_ROLES: roles });
const log = createLogger("info");
const stopping = new AbortController();
process.once("SIGTERM", () => stopping.abort());

const { http, grpc, metrics, stop } = await startNode(config, {
  dataDir: config.dataDir!,
  log,
  onReady: () => {},
  signal: stopping.signal,
  format: NEXT_FORMAT,
});
log.info({ http, grpc, metrics }, "ready");
await new Promise((resolve) => stopping.signal.addEventListener("abort", resolve));
await stop();
process.exit(0);
