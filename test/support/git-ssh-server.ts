/** Git over SSH for tests: an SSH server that takes one key, and runs `git-upload-pack` and `git-receive-pack`. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import ssh2 from "ssh2";

export interface KeyPair {
  readonly private: string;
  /** `ssh-ed25519 AAAA...` */
  readonly public: string;
}

export function newKeyPair(): KeyPair {
  return ssh2.utils.generateKeyPairSync("ed25519");
}

export class GitSshServer {
  readonly #folder: string;
  readonly #server: InstanceType<typeof ssh2.Server>;
  readonly #connections = new Set<{ end(): void }>();
  readonly hostKey: KeyPair;
  /** The key that may enter; others are refused. */
  accepted: string;
  /** Says no to pushes, as hosts do for a key that may only read. */
  readOnly = false;
  /** The commands that were asked for. */
  readonly commands: string[] = [];

  constructor(folder: string, accepted: string, hostKey = newKeyPair()) {
    this.#folder = folder;
    this.accepted = accepted;
    this.hostKey = hostKey;
    this.#server = new ssh2.Server({ hostKeys: [hostKey.private] }, (client) => {
      this.#connections.add(client);
      client.on("error", () => {});
      client.on("authentication", (attempt) => {
        const known = ssh2.utils.parseKey(this.accepted);
        const isKey = attempt.method === "publickey" && known.getPublicSSH().equals(attempt.key.data);
        const isProven =
          attempt.signature === undefined || known.verify(attempt.blob!, attempt.signature, attempt.hashAlgo);
        if (isKey && isProven) attempt.accept();
        else attempt.reject(["publickey"]);
      });
      client.on("session", (accept) => {
        const session = accept();
        let protocol = "";
        session.on("env", (acceptVariable, _, { key, val }) => {
          if (key === "GIT_PROTOCOL") protocol = val;
          acceptVariable?.();
        });
        session.on("exec", (acceptCommand, _, { command }) => this.#serve(acceptCommand(), command, protocol));
      });
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return this;
  }

  get port(): number {
    return this.#server.address().port;
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.end();
    await new Promise<void>((done) => this.#server.close(() => done()));
  }

  #serve(
    channel: import("node:stream").Duplex & { stderr: NodeJS.WritableStream; exit(code: number): void },
    command: string,
    protocol: string,
  ): void {
    this.commands.push(command);
    const [, service = "", path = ""] = /^(git-(?:upload|receive)-pack) '([\w./-]+)'$/.exec(command) ?? [];
    const isRefused = service === "" || (this.readOnly && service === "git-receive-pack");
    if (isRefused) {
      channel.stderr.write("ERROR: The key you are authenticating with has been marked as read only.\n");
      channel.exit(1);
      channel.end();
      return;
    }
    const child = spawn("git", [service.slice("git-".length), join(this.#folder, path)], {
      env: { PATH: process.env["PATH"], GIT_PROTOCOL: protocol, HOME: this.#folder },
    });
    channel.pipe(child.stdin);
    child.stdin.on("error", () => {});
    child.stdout.pipe(channel, { end: false });
    child.stderr.pipe(channel.stderr, { end: false });
    child.once("close", (code) => {
      channel.exit(code ?? 1);
      channel.end();
    });
  }
}
