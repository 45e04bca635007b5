/** Host keys of SSH servers: which are known, and which one a server shows. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

/** A public key as it stands in known_hosts: `ssh-ed25519 AAAA...`. */
export type HostKey = string;

/** The keys by which servers are known. */
export interface HostKeys {
  /** Of a host; empty while it is unknown. `port` is 22 where the address names none. */
  keysOf(host: string, port: number): Promise<readonly HostKey[]>;
}

const SCAN_MS = 8_000;
const MAX_SCAN_CHARS = 65_536;
/** A key whose name or content is anything else is skipped. */
const KEY_LINE = /^(\S+)\s+((?:ssh|ecdsa|sk)-[\w@.-]+\s+[A-Za-z0-9+/]+={0,3})(?:\s.*)?$/;

/**
 * The keys of a file in the format of known_hosts, which is read for each use, so that a change counts at once. Hashed
 * names, patterns and markers are skipped.
 */
export function hostKeysOfFile(path: string | null): HostKeys {
  return {
    async keysOf(host, port) {
      if (path === null) return [];
      const lines = (await readFile(path, "utf8")).split("\n");
      const wanted = nameOf(host, port);
      return lines.flatMap((line) => {
        const [, names = "", key = ""] = KEY_LINE.exec(line.trim()) ?? [];
        return names.toLowerCase().split(",").includes(wanted) ? [key] : [];
      });
    },
  };
}

/** The name of a server in known_hosts. */
export function nameOf(host: string, port: number): string {
  return port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
}

/** The fingerprint of a key, as ssh prints it. */
export function fingerprintOf(key: HostKey): string {
  const digest = createHash("sha256")
    .update(Buffer.from(key.split(/\s+/)[1]!, "base64"))
    .digest("base64");
  return `SHA256:${digest.replace(/=+$/, "")}`;
}

/** The keys that the server at an address shows, without a proof that they are its own; empty when it shows none. */
export function scanHostKeys(address: string, port: number): Promise<readonly HostKey[]> {
  return new Promise((resolve) => {
    const seconds = String(SCAN_MS / 1_000);
    const child = spawn("ssh-keyscan", ["-T", seconds, "-p", String(port), "-t", "ed25519,ecdsa,rsa", "--", address], {
      stdio: ["ignore", "pipe", "ignore"],
      env: { PATH: process.env["PATH"] },
      timeout: SCAN_MS + 1_000,
      killSignal: "SIGKILL",
    });
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => {
      printed = (printed + chunk.toString("latin1")).slice(0, MAX_SCAN_CHARS);
    });
    child.once("error", () => resolve([]));
    child.once("close", () => resolve(printed.split("\n").flatMap((line) => KEY_LINE.exec(line)?.[2] ?? [])));
  });
}
