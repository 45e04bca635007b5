/** Reads answers: bounded, and only those of millrace. */
import type { Schemas } from "./api-types.ts";
import { AnswerTooLargeError, ApiError, ClientError, ConnectionError, ForeignAnswerError } from "./errors.ts";

/** The JSON of an answer, whatever its status. Rejects for what is not JSON, cut off, or larger than `limitBytes`. */
export async function readJson(call: string, response: Response, limitBytes: number): Promise<unknown> {
  const type = response.headers.get("content-type");
  if (type === null || !/^application\/([\w.-]+\+)?json\b/i.test(type)) {
    await response.body?.cancel();
    throw foreign(call, response);
  }
  const text = await readText(call, response, limitBytes);
  try {
    return JSON.parse(text);
  } catch {
    throw foreign(call, response);
  }
}

/** The error that a refused call rejects with. */
export async function readError(call: string, response: Response, limitBytes: number): Promise<ClientError> {
  let body: unknown;
  try {
    body = await readJson(call, response, limitBytes);
  } catch (error) {
    if (error instanceof ClientError) return error;
    throw error;
  }
  if (!isErrorBody(body)) return foreign(call, response);
  return new ApiError(call, body, {
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryAfterMs: readRetryAfter(response.headers.get("retry-after")),
  });
}

export function foreign(call: string, response: Response): ForeignAnswerError {
  const host = response.url === "" ? "the server" : new URL(response.url).host;
  return new ForeignAnswerError(call, host, response.status, response.headers.get("content-type"));
}

/** `Retry-After` in milliseconds: whole seconds, or a date. Undefined for anything else. */
export function readRetryAfter(text: string | null, now = Date.now()): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function isErrorBody(body: unknown): body is Schemas["Error"] {
  if (typeof body !== "object" || body === null) return false;
  const { errMsg, reason, errors } = body as Record<string, unknown>;
  return typeof errMsg === "string" && typeof reason === "string" && Array.isArray(errors);
}

async function readText(call: string, { body }: Response, limitBytes: number): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const texts: string[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return texts.join("") + decoder.decode();
      bytes += value.length;
      if (bytes > limitBytes) throw new AnswerTooLargeError(call, limitBytes);
      texts.push(decoder.decode(value, { stream: true }));
    }
  } catch (error) {
    await reader.cancel().catch(() => {});
    if (error instanceof ClientError) throw error;
    throw new ConnectionError(call, "the answer was cut off", { cause: error });
  }
}
