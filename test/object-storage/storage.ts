/**
 * A server of S3 for one test file: the one that MILLRACE_TEST_S3_ENDPOINT names, with the credentials of AWS_ACCESS_KEY_ID
 * and AWS_SECRET_ACCESS_KEY; else moto, which is installed once beside the dependencies. It ends with this process.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import type { ObjectPlace } from "../../src/settings/object-storage.ts";
import { freePort } from "../support/ports.ts";
import { ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

/** Of the server's own packages, these are those that S3 needs. */
const MOTO = ["moto[s3]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5"];
const PACKAGES = fileURLToPath(new URL("../../node_modules/.cache/millrace/moto-5.2.5", import.meta.url));
const READY_MS = 60_000;

export interface TestObjectStorage {
  readonly port: number;
  readonly bucket: string;
  /** What a process needs to reach it. */
  readonly credentials: { readonly AWS_ACCESS_KEY_ID: string; readonly AWS_SECRET_ACCESS_KEY: string };
  /** A part of the bucket that no test has used, at the port of the server or of a proxy before it. */
  place(port?: number): ObjectPlace;
  stop(): Promise<void>;
}

export async function startTestObjectStorage(): Promise<TestObjectStorage> {
  const given = process.env["MILLRACE_TEST_S3_ENDPOINT"];
  const port = given === undefined ? await freePort() : Number(new URL(given).port);
  const server = given === undefined ? await startMoto(port) : undefined;
  const credentials = {
    AWS_ACCESS_KEY_ID: (process.env["AWS_ACCESS_KEY_ID"] ??= "an-access-key-of-tests"),
    AWS_SECRET_ACCESS_KEY: (process.env["AWS_SECRET_ACCESS_KEY"] ??= "a-secret-key-of-tests"),
  };
  const bucket = `millrace-${randomBytes(6).toString("hex")}`;
  const place = (at = port): ObjectPlace => ({
    bucket,
    prefix: `${randomBytes(6).toString("hex")}/`,
    endpoint: `http://127.0.0.1:${at}`,
    region: "us-east-1",
    pathStyle: true,
  });
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
  const client = new S3Client({ endpoint: place().endpoint!, region: "us-east-1", forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  return { port, bucket, credentials, place, stop: async () => server?.end() };
}

async function startMoto(port: number): Promise<ServerProcess> {
  if (!existsSync(PACKAGES)) await installMoto();
  const server = new ServerProcess(["env", `PYTHONPATH=${PACKAGES}`, "python3", "-m", "moto.server", "-p", `${port}`]);
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/moto-api/data.json`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until("an answer of the object storage", answers, READY_MS);
  return server;
}

/**
 * Installs into a folder of this process and renames it: neither an interrupted installation nor two at a time leave half
 * a folder.
 */
async function installMoto(): Promise<void> {
  const made = `${PACKAGES}.${process.pid}`;
  await mkdir(made, { recursive: true });
  try {
    const flags = ["--quiet", "--disable-pip-version-check", "--no-compile", "--target", made];
    await promisify(execFile)("python3", ["-m", "pip", "install", ...flags, ...MOTO]);
    await rename(made, PACKAGES);
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    if (!existsSync(PACKAGES)) throw error;
  }
}
