/**
 * Removes folders in which something is mounted. The test starts this program in a mount namespace of its own, so that
 * no mount outlives it. Argument: a folder. Prints the messages of the trash, and that of a checkout, as JSON.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder } from "../../../src/agent/builtins/checkout/checkout-folder.ts";
import { mountPointsIn } from "../../../src/agent/folders/mount-points.ts";
import { Trash } from "../../../src/agent/folders/trash.ts";
import { until } from "../../support/until.ts";
import { SILENT } from "../test-agent.ts";

const root = process.argv[2]!;
const warnings: unknown[] = [];
const work = (name: string) => join(root, "work", name);

function bind(name: string, folder: string): void {
  const precious = join(root, "precious", name);
  mkdirSync(precious, { recursive: true });
  writeFileSync(join(precious, "file"), "text");
  mkdirSync(folder, { recursive: true });
  execFileSync("mount", ["--bind", precious, folder]);
}

async function holdOpen(folder: string): Promise<ChildProcess> {
  const child = spawn("sh", ["-c", "echo; read -r line"], { cwd: folder });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return child;
}

mkdirSync(join(root, "trash"));
bind("inside", join(work("inside"), "a b", "in"));
bind("stacked", join(work("stacked"), "in"));
bind("stacked again", join(work("stacked"), "in"));
bind("itself", work("itself"));
bind("busy", join(work("busy"), "in"));
bind("elsewhere", join(root, "elsewhere"));
symlinkSync(join(root, "elsewhere"), work("link"));
mkdirSync(join(work("plain"), "in"), { recursive: true });
bind("sources", join(root, "checkout", "in"));
let refusal = "";
try {
  emptyFolder(join(root, "checkout"));
} catch (error) {
  refusal = (error as Error).message;
}
const holder = await holdOpen(join(work("busy"), "in"));

const warn = (facts: object, text: string) => void warnings.push({ ...facts, text });
const trash = new Trash(join(root, "trash"), { ...SILENT, warn });
for (const name of ["inside", "stacked", "itself", "busy", "link", "plain"]) trash.take(work(name));
await until("the warning", () => warnings.length > 0);
await trash.close();
const isElsewhereMounted = mountPointsIn(join(root, "elsewhere")).length === 1;
process.stdout.write(JSON.stringify({ warnings, isElsewhereMounted, refusal }));
holder.stdin!.end();
