/** The part of `ssh2` that the tests use; the package has no types of its own. */
declare module "ssh2" {
  import type { Duplex } from "node:stream";

  interface Channel extends Duplex {
    readonly stderr: NodeJS.WritableStream;
    exit(code: number): void;
  }

  interface PublicKeyAttempt {
    readonly method: string;
    readonly key: { readonly algo: string; readonly data: Buffer };
    readonly signature?: Buffer;
    readonly blob?: Buffer;
    readonly hashAlgo?: string;
    accept(): void;
    reject(methods?: readonly string[]): void;
  }

  interface ParsedKey {
    getPublicSSH(): Buffer;
    verify(data: Buffer, signature: Buffer, algorithm?: string): boolean;
  }

  interface Connection {
    on(event: "authentication", listener: (attempt: PublicKeyAttempt) => void): this;
    on(event: "ready", listener: () => void): this;
    on(event: "error", listener: (error: Error) => void): this;
    on(event: "session", listener: (accept: () => Session) => void): this;
    end(): void;
  }

  interface Session {
    on(event: "exec", listener: (accept: () => Channel, reject: () => void, info: { command: string }) => void): this;
    on(
      event: "env",
      listener: (accept: (() => void) | undefined, reject: unknown, info: { key: string; val: string }) => void,
    ): this;
  }

  class Server {
    constructor(options: { hostKeys: readonly string[] }, onConnection: (client: Connection) => void);
    listen(port: number, host: string, done: () => void): void;
    address(): { port: number };
    close(done?: () => void): void;
  }

  interface Library {
    Server: typeof Server;
    utils: {
      parseKey(key: string): ParsedKey;
      generateKeyPairSync(type: "ed25519"): { readonly private: string; readonly public: string };
    };
  }

  const library: Library;
  export default library;
}
