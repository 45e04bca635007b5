/**
 * A registry of images for tests, which speaks the reading half of the distribution API: with a token that the user and the
 * password of an account buy. Source: https://github.com/opencontainers/distribution-spec/blob/main/spec.md
 */
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";

export interface TestImage {
  /** The file system, as a tar. */
  readonly root: Buffer;
  readonly env: readonly string[];
}

export class ImageRegistry {
  /** `METHOD PATH` of each request for a manifest, in their order. */
  readonly asked: string[] = [];
  readonly #server: Server;
  readonly #account: string;
  readonly #tokens = new Set<string>();
  readonly #blobs = new Map<string, { readonly type: string; readonly content: Buffer }>();
  /** Digests of manifests, by `REPOSITORY:TAG`. */
  readonly #tags = new Map<string, string>();
  readonly #settings = mkdtempSync(join(tmpdir(), "millrace-registry-"));
  readonly #settingsBefore = process.env["CONTAINERS_REGISTRIES_CONF"];

  /** `account`: `user:password`. Engines of this process reach it without TLS until it is stopped. */
  static async start(account: string): Promise<ImageRegistry> {
    const registry = new ImageRegistry(account);
    registry.#server.listen(0, "127.0.0.1");
    await once(registry.#server, "listening");
    const file = join(registry.#settings, "registries.conf");
    writeFileSync(file, `[[registry]]\nlocation = "${registry.host}"\ninsecure = true\n`);
    process.env["CONTAINERS_REGISTRIES_CONF"] = file;
    return registry;
  }

  private constructor(account: string) {
    this.#account = Buffer.from(account).toString("base64");
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stores an image under a tag, from which it takes the tag of an earlier one. Answers its digest. */
  tag(name: string, { root, env }: TestImage): string {
    const layer = this.#store(LAYER, gzipSync(root, { level: 1 }));
    const config = this.#storeJson(CONFIG, {
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      os: "linux",
      config: { Env: env, Cmd: ["/bin/sh"] },
      rootfs: { type: "layers", diff_ids: [digestOf(root)] },
    });
    const manifest = this.#storeJson(MANIFEST, {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config,
      layers: [layer],
    });
    this.#tags.set(name, manifest.digest);
    return manifest.digest;
  }

  async stop(): Promise<void> {
    if (this.#settingsBefore === undefined) delete process.env["CONTAINERS_REGISTRIES_CONF"];
    else process.env["CONTAINERS_REGISTRIES_CONF"] = this.#settingsBefore;
    rmSync(this.#settings, { recursive: true, force: true });
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #store(type: string, content: Buffer) {
    const digest = digestOf(content);
    this.#blobs.set(digest, { type, content });
    return { mediaType: type, digest, size: content.length };
  }

  #storeJson(type: string, value: object) {
    return this.#store(type, Buffer.from(JSON.stringify(value)));
  }

  #answer({ method = "", url = "", headers: { authorization = "" } }: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(url, `http://${this.host}`);
    if (pathname === "/token") return this.#sellToken(authorization, response);
    if (!this.#tokens.has(authorization.replace(/^Bearer /, ""))) {
      const challenge = `Bearer realm="http://${this.host}/token",service="test",scope="repository:any:pull"`;
      response.writeHead(401, { "www-authenticate": challenge, "content-type": "application/json" });
      return void response.end(
        JSON.stringify({ errors: [{ code: "UNAUTHORIZED", message: "authentication required" }] }),
      );
    }
    if (pathname === "/v2/") return void response.writeHead(200).end();
    const [, repository = "", kind, name = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(pathname) ?? [];
    if (kind === "manifests") this.asked.push(`${method} ${name}`);
    const digest = name.startsWith("sha256:") ? name : this.#tags.get(`${repository}:${name}`);
    const blob = this.#blobs.get(digest ?? "");
    if (blob === undefined) {
      response.writeHead(404, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ errors: [{ code: "MANIFEST_UNKNOWN", message: "manifest unknown" }] }));
    }
    response.writeHead(200, {
      "content-type": blob.type,
      "content-length": blob.content.length,
      "docker-content-digest": digest!,
    });
    response.end(method === "HEAD" ? undefined : blob.content);
  }

  #sellToken(authorization: string, response: ServerResponse): void {
    if (authorization !== `Basic ${this.#account}`) {
      response.writeHead(401, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ errors: [{ code: "UNAUTHORIZED", message: "wrong credentials" }] }));
    }
    const token = randomUUID();
    this.#tokens.add(token);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ token, access_token: token, expires_in: 300 }));
  }
}

function digestOf(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
