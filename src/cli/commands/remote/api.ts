/** `millrace api`: a call of the API as it is, for what has no command. */
import { createReadStream } from "node:fs";
import { text as readAll } from "node:stream/consumers";
import { UsageError } from "../../command-line.ts";
import { pipeOut } from "../../remote/pipe-out.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";
import { visibleJson } from "../../remote/visible.ts";

const METHODS: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

export interface ApiOptions extends RemoteOptions {
  /** `name=value` texts; the value is JSON if it is valid JSON, else a text. */
  readonly field: readonly string[];
  readonly input?: string;
  readonly idempotencyKey?: string;
  readonly ifMatch?: string;
}

/** Prints the whole answer: JSON with its envelope, and anything else as it comes. */
export function callApi(method: string, path: string, options: ApiOptions, signal: AbortSignal): Promise<number> {
  return withServer({ ...options, json: true }, signal, async ({ client, report }) => {
    const verb = method.toUpperCase();
    if (!METHODS.includes(verb)) throw new UsageError(`${method}: must be one of ${METHODS.join(", ")}`);
    if (!path.startsWith("/")) throw new UsageError(`${path}: must be a path such as /pipelines`);
    const body = await bodyOf(options);
    const { idempotencyKey, ifMatch } = options;
    const response = await client.transport.open({
      method: verb,
      path: path.replace(/^\/api\/v1(?=\/)/, ""),
      headers: {
        accept: "*/*",
        ...(body === null ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
        ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
      },
      body,
      isRepeatable: verb === "GET" || idempotencyKey !== undefined,
      signal,
    });
    if (/^application\/json\b/.test(response.headers.get("content-type") ?? "")) {
      report.json(await response.json());
      return;
    }
    await pipeOut(response, process.stdout, signal);
  });
}

async function bodyOf({ field, input }: ApiOptions): Promise<string | null> {
  if (input !== undefined && field.length > 0) throw new UsageError("--input and --field exclude each other");
  if (field.length > 0) return JSON.stringify(Object.fromEntries(field.map(parseField)));
  if (input === undefined) return null;
  try {
    return await readAll(input === "-" ? process.stdin : createReadStream(input));
  } catch (error) {
    throw new UsageError(`cannot read ${input}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
}

function parseField(text: string): readonly [string, unknown] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--field ${visibleJson(text)}: must be name=value`);
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value)];
  } catch {
    return [text.slice(0, at), value];
  }
}
