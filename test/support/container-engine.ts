/** A container engine for tests, and an image that needs no registry: BusyBox alone. */
import { execFile } from "node:child_process";
import {
  accessSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
  copyFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A reference that no registry has. */
export const TEST_IMAGE = "localhost/millrace-test:1";
/** The same, which serves the variables of its environment over HTTP on port 8080. */
export const SERVICE_IMAGE = "localhost/millrace-test-service:1";
const SERVE = "mkdir -p /www && env >/www/env && echo begun && exec httpd -f -p 8080 -h /www";
const BUSYBOX = ["/bin/busybox", "/usr/bin/busybox", "/usr/local/bin/busybox"];
/** For kernels whose cgroups the default runtime of Podman does not take, and for a bound on files below Podman's. */
const SETTINGS = `
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
`;

export interface TestEngine {
  readonly kind: "podman";
  /** Runs the engine, and answers its standard output. */
  ask(...args: string[]): Promise<string>;
}

/** Podman with the test's image; undefined where it cannot run a container or no static BusyBox is there. */
export async function openTestEngine(): Promise<TestEngine | undefined> {
  const busybox = BUSYBOX.find(isThere);
  if (busybox === undefined) return undefined;
  const ask = async (...args: string[]) => (await run("podman", args)).stdout;
  try {
    await ask("version");
    if (!(await ask("images", "-q", SERVICE_IMAGE).catch(() => ""))) await makeImage(busybox, ask);
  } catch {
    return undefined;
  }
  const works = () =>
    ask("run", "--rm", TEST_IMAGE, "/bin/true").then(
      () => true,
      () => false,
    );
  if (await works()) return { kind: "podman", ask };
  const settings = join(mkdtempSync(join(tmpdir(), "millrace-engine-")), "containers.conf");
  writeFileSync(settings, SETTINGS);
  process.env["CONTAINERS_CONF"] = settings;
  if (await works()) return { kind: "podman", ask };
  delete process.env["CONTAINERS_CONF"];
  return undefined;
}

async function makeImage(busybox: string, ask: TestEngine["ask"]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-image-"));
  try {
    const root = join(folder, "root");
    for (const name of ["bin", "etc", "tmp", "proc", "sys", "dev", "root"])
      mkdirSync(join(root, name), { recursive: true });
    chmodSync(join(root, "tmp"), 0o1777);
    copyFileSync(busybox, join(root, "bin/busybox"));
    const { stdout } = await run(busybox, ["--list"]);
    for (const name of stdout.split("\n").filter((each) => each !== "" && each !== "busybox")) {
      symlinkSync("busybox", join(root, "bin", name));
    }
    writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\napp:x:1234:1234:app:/:/bin/sh\n");
    writeFileSync(join(root, "etc/group"), "root:x:0:\napp:x:1234:\n");
    await run("tar", ["-C", root, "-cf", join(folder, "root.tar"), "."]);
    const command = (words: readonly string[]) => `CMD ${JSON.stringify(words)}`;
    const archive = join(folder, "root.tar");
    await ask("import", "--change", command(["/bin/sh"]), archive, TEST_IMAGE);
    await ask("import", "--change", command(["/bin/sh", "-c", SERVE]), archive, SERVICE_IMAGE);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isThere(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}
