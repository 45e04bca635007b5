/** Fails when `proto/generated` differs from what `buf generate` makes of the contracts. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const GENERATED = join("proto", "generated");
/** What `npm run generate` passes to buf, one after the other. */
const TEMPLATES = ["buf.gen.yaml", "buf.gen.agent.yaml"];

const fresh = mkdtempSync(join(tmpdir(), "millrace-generated-"));
try {
  for (const template of TEMPLATES) {
    const args = ["generate", "--template", template, "--output", fresh];
    const { status, error } = spawnSync("buf", args, { cwd: ROOT, stdio: "inherit" });
    if (status !== 0) throw error ?? new Error(`buf generate --template ${template} failed`);
  }
  const [committed, made] = [join(ROOT, GENERATED), join(fresh, GENERATED)].map(readFiles);
  const stale = [...new Set([...committed.keys(), ...made.keys()])].filter(
    (path) => committed.get(path) !== made.get(path),
  );
  for (const path of stale) console.error(`${join(GENERATED, path)} is not up to date: run npm run generate`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} finally {
  rmSync(fresh, { recursive: true, force: true });
}

/** Contents by path below `folder`. */
function readFiles(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, "utf8")];
    }),
  );
}
