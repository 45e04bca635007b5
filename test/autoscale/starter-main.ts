/** Starts agents as an autoscaler does: `starter-main.ts DATA_DIR COUNT COMMAND...`. It tells each start before and after it. */
import { AgentSlots } from "../../src/autoscale/agent-slots.ts";

const [dataDir = "", count = "", ...command] = process.argv.slice(2);
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const slots = AgentSlots.open({
  dataDir,
  command: command as [string, ...string[]],
  environmentOf: (slot) => ({ ...process.env, SLOT: String(slot) }),
  log,
});
while (slots.living().length < Number(count)) {
  process.stdout.write("starting\n");
  slots.start();
  process.stdout.write("started\n");
}
process.stdout.write("all\n");
setInterval(() => {}, 1_000);
