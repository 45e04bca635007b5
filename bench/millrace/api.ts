/**
 * A client of the HTTP API that uses little CPU: it keeps connections open and does nothing beyond the measured calls.
 */
import { Agent, request } from "node:http";

export class Api {
  readonly #base: URL;
  readonly #token: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(base: string, token: string) {
    this.#base = new URL(base);
    this.#token = token;
  }

  /** Answers the `detail` of the response. Rejects for any status other than 200. */
  call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const call = request(
        {
          host: this.#base.hostname,
          port: this.#base.port,
          path: `/api/v1${path}`,
          method,
          agent: this.#agent,
          headers: {
            authorization: `Bearer ${this.#token}`,
            ...(text === undefined
              ? {}
              : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => {
            const answer = Buffer.concat(chunks).toString();
            if (response.statusCode === 200) resolve((JSON.parse(answer) as { detail: T }).detail);
            else reject(new Error(`${method} ${path}: ${response.statusCode} ${answer.slice(0, 500)}`));
          });
        },
      );
      call.on("error", (error) => {
        // The server closed the idle connection just when it was used again, and read nothing of this call: repeat it.
        if (call.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET") {
          resolve(this.call(method, path, body));
        } else reject(error);
      });
      call.end(text);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
