/** Serves bare repositories over HTTP with `git http-backend`, as a CGI server does. Source: git-http-backend(1). */
import { spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";

/** More bytes before the end of the backend's header are no answer. */
const MAX_HEAD_BYTES = 65_536;

/**
 * Answers one request about the repositories in `folder`. A caller with a `user` may push; the caller has authenticated the
 * user. Answers 502 when the backend ends without an answer.
 */
export function serveRepositories(
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
  user?: string,
): void {
  const { pathname, searchParams } = new URL(request.url!, "http://localhost");
  const backend = spawn("git", ["http-backend"], {
    stdio: ["pipe", "pipe", "ignore"],
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_PROTOCOL: request.headers["git-protocol"] as string | undefined,
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
      PATH_INFO: pathname,
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: request.method,
      ...(user !== undefined && { REMOTE_USER: user }),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      ...(request.headers["content-encoding"] && { HTTP_CONTENT_ENCODING: request.headers["content-encoding"] }),
    },
  });
  request.pipe(backend.stdin);
  backend.stdin.on("error", () => {}); // The backend ended without reading the body.
  response.on("close", () => backend.kill());
  const fail = (): void => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  };
  backend.once("error", fail);
  let head = Buffer.alloc(0);
  const readHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) {
      if (head.length > MAX_HEAD_BYTES) backend.kill();
      return;
    }
    backend.stdout.off("data", readHead);
    const fields = head
      .toString("latin1", 0, end)
      .split("\r\n")
      .map((line) => line.split(/: /, 2) as [string, string]);
    const status = fields.find(([name]) => name.toLowerCase() === "status");
    const others = fields.filter((field) => field !== status);
    response.writeHead(status === undefined ? 200 : Number.parseInt(status[1], 10), Object.fromEntries(others));
    response.write(head.subarray(end + 4));
    backend.stdout.pipe(response);
  };
  backend.stdout.on("data", readHead);
  backend.stdout.once("end", () => {
    if (!response.headersSent) fail();
  });
}
