/**
 * A container engine for tests, and an image that needs no registry: BusyBox alone. The engine is Podman, or Docker with
 * `CONTAINER_ENGINE=docker`: then its client finds the daemon as ever, by `DOCKER_HOST` or its default.
 */
import { execFile } from "node:child_process";
import {
  accessSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { EngineKind } from "../../src/agent/containers/engine.ts";
import { javaServer } from "./mongo.ts";

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
  readonly kind: EngineKind;
  /** Runs the engine, and answers its standard output. */
  ask(...args: string[]): Promise<string>;
}

/** The engine with the test's image; undefined where it cannot run a container or no static BusyBox is there. */
export async function openTestEngine(): Promise<TestEngine | undefined> {
  const busybox = BUSYBOX.find(isThere);
  if (busybox === undefined) return undefined;
  const kind = process.env["CONTAINER_ENGINE"] === "docker" ? "docker" : "podman";
  const ask = async (...args: string[]) => (await run(kind, args)).stdout;
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
  if (await works()) return { kind, ask };
  if (kind === "docker") return undefined;
  const settings = join(mkdtempSync(join(tmpdir(), "millrace-engine-")), "containers.conf");
  writeFileSync(settings, SETTINGS);
  process.env["CONTAINERS_CONF"] = settings;
  if (await works()) return { kind, ask };
  delete process.env["CONTAINERS_CONF"];
  return undefined;
}

async function makeImage(busybox: string, ask: TestEngine["ask"]): Promise<void> {
  const command = (words: readonly string[]) => `CMD ${JSON.stringify(words)}`;
  await withRoot(busybox, async (archive) => {
    await ask("import", "--change", command(["/bin/sh"]), archive, TEST_IMAGE);
    await ask("import", "--change", command(["/bin/sh", "-c", SERVE]), archive, SERVICE_IMAGE);
  });
}

/** A MongoDB-wire server on port 27017: the one of the other tests, with a Java runtime that is made for it. */
export const DATABASE_IMAGE = "localhost/millrace-test-mongo:1";
const MODULES = "java.base,java.logging,java.management,java.naming,jdk.unsupported";

/** Makes {@link DATABASE_IMAGE} unless the engine has it. Rejects where no JDK is installed. */
export async function makeDatabaseImage({ ask }: TestEngine): Promise<void> {
  if (await ask("images", "-q", DATABASE_IMAGE)) return;
  const { launcher, jars } = await javaServer();
  await withRoot(BUSYBOX.find(isThere)!, async (archive, root) => {
    const place = join(root, "opt/mongo");
    const runtime = join(root, "opt/java");
    await run("jlink", [
      "--add-modules",
      MODULES,
      "--strip-debug",
      "--no-header-files",
      "--no-man-pages",
      "--output",
      runtime,
    ]);
    await run("javac", ["-d", place, "-cp", `${jars}*`, launcher]);
    cpSync(jars, place, { recursive: true });
    const programs = ["bin/java", "lib/server/libjvm.so", "lib/libnet.so", "lib/libnio.so"].map((name) =>
      join(runtime, name),
    );
    const libraries = (await run("ldd", programs)).stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(/gm);
    for (const path of new Set([...libraries].map(([, library]) => library!))) {
      if (!path.startsWith(root)) cpSync(path, join(root, path), { dereference: true });
    }
    await run("tar", ["-C", root, "-cf", archive, "."]);
    // It ends when its standard input does.
    const serve =
      "tail -f /dev/null | exec /opt/java/bin/java -XX:+UseSerialGC -cp '/opt/mongo:/opt/mongo/*' Launcher 27017 0.0.0.0";
    await ask("import", "--change", `CMD ${JSON.stringify(["/bin/sh", "-c", serve])}`, archive, DATABASE_IMAGE);
  });
}

/** The file system of the test's image, as a tar. */
export async function testRoot(): Promise<Buffer> {
  return withRoot(BUSYBOX.find(isThere)!, async (archive) => readFileSync(archive));
}

async function withRoot<T>(busybox: string, use: (archive: string, root: string) => Promise<T>): Promise<T> {
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
    const archive = join(folder, "root.tar");
    await run("tar", ["-C", root, "-cf", archive, "."]);
    return await use(archive, root);
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
