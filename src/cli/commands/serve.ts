/** `millrace serve`: a node of the control plane with one or more roles, which runs until a signal ends it. */
import { resolve } from "node:path";
import { readNodeConfig } from "../../settings/config.ts";
import { optimiseForRuns } from "../../node/compiler.ts";
import { startNode } from "../../node/node.ts";
import { freeQuietGarbage } from "../../node/quiet-garbage.ts";
import { readSettings } from "../command-line.ts";
import { claimDataDir, defaultDataDir, makeDataDir } from "../../node/data-dir.ts";
import { aborted } from "../interruption.ts";
import { createLogger } from "../logging.ts";
import { misspeltVariables } from "../misspelt-variables.ts";

export interface ServeOptions {
  readonly roles?: string;
  readonly dataDir?: string;
  readonly objectStorage?: string;
}

/** Rejects with the reason of `signal` after a graceful shutdown, or with the failure. */
export async function serve(options: ServeOptions, signal: AbortSignal): Promise<never> {
  const config = readSettings(() =>
    readNodeConfig({
      ...process.env,
      ...(options.roles === undefined ? {} : { MILLRACE_ROLES: options.roles }),
      ...(options.dataDir === undefined ? {} : { MILLRACE_DATA_DIR: options.dataDir }),
      ...(options.objectStorage === undefined ? {} : { MILLRACE_OBJECT_STORAGE: options.objectStorage }),
    }),
  );
  const log = createLogger(config.logLevel ?? "info");
  for (const text of misspeltVariables(process.env)) log.warn({}, text);
  const dataDir = resolve(config.dataDir ?? defaultDataDir());
  // An embedded Redis has one owner, so the directory is claimed. Nodes that share a Redis may share a directory too.
  if (config.mongodb === null || config.redis === null) await makeDataDir(dataDir);
  const release = config.redis === null ? await claimDataDir(dataDir) : () => {};
  try {
    const node = await startNode(config, {
      dataDir,
      log,
      onReady: (part, how) => log.info({ part }, `${part}: ${how}`),
      signal,
    });
    const cancels = [freeQuietGarbage(), optimiseForRuns(node.context.begunRuns)];
    try {
      const { http, grpc, metrics } = node;
      const adminToken = await node.firstToken();
      if (adminToken !== null) process.stdout.write(`administrator token (shown only now): ${adminToken}\n`);
      log.info({ roles: config.roles, http, grpc, metrics }, "ready");
      await aborted(signal);
      log.info({ reason: String(signal.reason) }, "draining");
    } finally {
      for (const cancel of cancels) cancel();
      await node.stop();
    }
    log.info({}, "ended");
  } finally {
    release();
  }
  throw signal.reason;
}
