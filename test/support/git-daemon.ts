/** `git daemon`: serves a folder of repositories to everyone, as `git://` addresses. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { until } from "./until.ts";

export class GitDaemon {
  readonly #process: ChildProcess;
  readonly #port: number;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.#port = port;
  }

  static async start(folder: string): Promise<GitDaemon> {
    const port = await freePort();
    const program = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-daemon");
    const args = [
      "--listen=127.0.0.1",
      `--port=${port}`,
      "--reuseaddr",
      "--export-all",
      `--base-path=${folder}`,
      folder,
    ];
    const daemon = new GitDaemon(spawn(program, args, { stdio: "ignore" }), port);
    await until("git daemon listens", () => daemon.#isListening());
    return daemon;
  }

  url(name: string): string {
    return `git://127.0.0.1:${this.#port}/${name}.git`;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    this.#process.kill();
    await once(this.#process, "exit");
  }

  #isListening(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, "127.0.0.1");
      socket.once("error", () => resolve(false));
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
    });
  }
}

/** The daemon does not tell a port that it has chosen itself. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
