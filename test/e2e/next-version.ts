/** `serve` of a release that is yet to come: the program as it is, with a stored format one schema ahead. */
import { createLogger } from "../../src/cli/logging.ts";
import { readNodeConfig } from "../../src/config.ts";
import { startNode } from "../../src/node/node.ts";
import { NEXT_FORMAT } from "../support/next-format.ts";

const [, , , , roles] = process.argv;
const config = readNodeConfig({ ...process.env, MILLRACE_ROLES: roles });
const log = createLogger("info");
const asked = new AbortController();
process.once("SIGTERM", () => asked.abort());

const { http, grpc, metrics, stop } = await startNode(config, {
  dataDir: config.dataDir!,
  log,
  onReady: () => {},
  signal: asked.signal,
  format: NEXT_FORMAT,
});
log.info({ http, grpc, metrics }, "ready");
await new Promise((resolve) => asked.signal.addEventListener("abort", resolve));
await stop();
process.exit(0);
