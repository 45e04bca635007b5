/** `millrace repair`: makes an installation consistent after its MongoDB was restored from a dump. */
import { readNodeConfig } from "../../settings/config.ts";
import { repairStore } from "../../node/machine/repair.ts";
import { readSettings, UsageError } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";
import { createLogger } from "../logging.ts";

/** Resolves with the exit status. Rejects with `conflict` while a node is live. Safe to repeat. */
export async function repair(): Promise<number> {
  const config = readSettings(() => readNodeConfig(process.env));
  if (config.mongodb === null) {
    throw new UsageError("MONGODB_URL is not set: an embedded installation is restored with `millrace restore`");
  }
  const { runs, removed } = await repairStore({ ...config, mongodb: config.mongodb }, createLogger("silent"));
  process.stdout.write(
    `${runs} runs are consistent; removed records that were newer than their runs: ${removed.events} events, ` +
      `logs of ${removed.logs} steps, outputs of ${removed.outputs} steps, ${removed.artifacts} artifacts, ` +
      `${removed.commands} commands\n`,
  );
  return EXIT.ok;
}
