/** `millrace object-storage return-logs`: moves logs back into the store, also while the installation runs. */
import { resolve } from "node:path";
import { defaultDataDir } from "../../node/data-dir.ts";
import { returnStoredLogs } from "../../node/machine/return-logs.ts";
import { readNodeConfig } from "../../settings/config.ts";
import { readSettings } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";

export interface ReturnLogsOptions {
  readonly dataDir?: string;
}

/** How often the progress is told, ms. */
const TELL_MS = 5_000;

/** Resolves with the exit status: 1 when lines of some logs are not in the object storage. Each of these is printed. */
export async function returnLogs(options: ReturnLogsOptions, signal: AbortSignal): Promise<number> {
  const config = readSettings(() => readNodeConfig(process.env));
  const dataDir = resolve(options.dataDir ?? config.dataDir ?? defaultDataDir());
  let toldAt = performance.now();
  const { logs, bytes, incomplete } = await returnStoredLogs(config, dataDir, signal, (moved) => {
    if (performance.now() - toldAt < TELL_MS) return;
    toldAt = performance.now();
    process.stderr.write(`${moved.logs} logs, ${moved.bytes} bytes\n`);
  });
  for (const stepRunId of incomplete) {
    process.stderr.write(`the log of ${stepRunId} stays in the object storage: an object is gone or was changed\n`);
  }
  process.stdout.write(`${logs} logs are in the store again, ${bytes} bytes; ${incomplete.length} are left\n`);
  return incomplete.length === 0 ? EXIT.ok : EXIT.failure;
}
