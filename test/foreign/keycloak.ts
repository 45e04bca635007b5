/** A Keycloak in a process of its own, from Maven, with the realm `corp`. The first start builds it, which takes minutes. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { until } from "../support/until.ts";

const run = promisify(execFile);
const VERSION = "26.0.7";
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/millrace", import.meta.url));
const HOME = join(CACHE, `keycloak-${VERSION}`);
const START_MS = 600_000;
export const REALM = "corp";

export interface Keycloak {
  readonly issuer: string;
  /** Calls the administration API of the realm. */
  admin(method: string, path: string, body?: object): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts a Keycloak with this realm, as its export format describes one. Needs Java 17 and Maven. */
export async function startKeycloak(realm: object): Promise<Keycloak> {
  await install();
  const data = join(HOME, "data");
  await rm(data, { recursive: true, force: true });
  await mkdir(join(data, "import"), { recursive: true });
  await writeFile(join(data, "import/realm.json"), JSON.stringify({ realm: REALM, enabled: true, ...realm }));
  const port = await freePort();
  const args = ["start-dev", "--import-realm", "--http-host=127.0.0.1", `--http-port=${port}`];
  const child = spawn(join(HOME, "bin/kc.sh"), args, {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: {
      ...process.env,
      JAVA_OPTS_KC_HEAP: "-Xmx512m",
      KC_BOOTSTRAP_ADMIN_USERNAME: "root",
      KC_BOOTSTRAP_ADMIN_PASSWORD: "root",
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += String(text)));
  const base = `http://127.0.0.1:${port}`;
  const issuer = `${base}/realms/${REALM}`;
  await until(
    "Keycloak serves its realm",
    async () => {
      if (child.exitCode !== null) throw new Error(`Keycloak ended with ${child.exitCode}:\n${output}`);
      return (await fetch(`${issuer}/.well-known/openid-configuration`).catch(() => undefined))?.ok === true;
    },
    START_MS,
  );
  return { issuer, admin: (method, path, body) => administer(base, method, path, body), stop: () => stop(child) };
}

async function install(): Promise<void> {
  if (existsSync(HOME)) return;
  await mkdir(CACHE, { recursive: true });
  const unpacked = await mkdtemp(join(CACHE, "keycloak-new-"));
  const artifact = `-Dartifact=org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
  await run("mvn", ["-q", "-B", "dependency:copy", artifact, `-DoutputDirectory=${unpacked}`]);
  await run("jar", ["xf", `keycloak-quarkus-dist-${VERSION}.zip`], { cwd: unpacked });
  // `jar` restores no permissions.
  await run("chmod", ["+x", join(unpacked, `keycloak-${VERSION}/bin/kc.sh`)]);
  await rename(join(unpacked, `keycloak-${VERSION}`), HOME);
  await rm(unpacked, { recursive: true });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { readonly port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

async function administer(base: string, method: string, path: string, body?: object): Promise<unknown> {
  const answered = await fetch(`${base}/realms/master/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "password", client_id: "admin-cli", username: "root", password: "root" }),
  });
  const { access_token } = (await answered.json()) as { readonly access_token: string };
  const answer = await fetch(`${base}/admin/realms/${REALM}${path}`, {
    method,
    headers: { authorization: `Bearer ${access_token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  // The script starts Java without becoming it: the whole group has to end.
  process.kill(-child.pid!, "SIGKILL");
  await ended;
}
