/** The Go programs that tests of this folder run. They are built once from the module proxy and kept. */
import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const KEPT = fileURLToPath(new URL("../../node_modules/.cache/millrace/go-tools", import.meta.url));

/** The package of each program with its pinned version. */
const GO_TOOLS = {
  grpcurl: "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3",
  ghz: "github.com/bojand/ghz/cmd/ghz@v0.121.0",
} as const;

/** The path of the program, which is built if it is missing. Rejects when Go or the proxy is not available. */
export async function goTool(name: keyof typeof GO_TOOLS): Promise<string> {
  const folder = join(KEPT, GO_TOOLS[name].replaceAll("/", "_"));
  const path = join(folder, name);
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (!isThere) await run("go", ["install", GO_TOOLS[name]], { env: { ...process.env, GOBIN: folder } });
  return path;
}
