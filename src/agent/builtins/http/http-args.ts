/** The arguments of the builtin `http`. They come over the network, and any of them may hold a secret. */
import { MillraceError } from "../../../domain/errors.ts";

const METHODS: readonly unknown[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

export interface HttpRequest {
  readonly url: URL;
  /** The address as the definition has it. A secret in it is recognized in this form, not in that of `url`. */
  readonly written: string;
  readonly method: string;
  readonly headers: Headers;
  /** Undefined for none. */
  readonly body: string | undefined;
}

export interface HttpRequestArgs {
  readonly request: HttpRequest;
  readonly isExpected: (status: number) => boolean;
  /** Name of the output that gets the body of the answer; undefined for none. */
  readonly output: string | undefined;
}

/** Checks the arguments. Throws `malformed_request` for the first that is wrong. The text repeats no value. */
export function readHttpArgs(args: Readonly<Record<string, unknown>>): HttpRequestArgs {
  const { url, method = "GET", headers = {}, body, expectStatus, output, ...others } = args;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw wrong(`does not know "${unknown}"`);
  if (typeof method !== "string" || !METHODS.includes(method))
    throw wrong(`takes one of ${METHODS.join(", ")} as method`);
  // The objects into which protobuf messages are decoded cannot hold "__proto__".
  if (output !== undefined && (typeof output !== "string" || !/^(?!__proto__$)[A-Za-z_][\w-]{0,63}$/.test(output))) {
    throw wrong("takes the name of an output as output: up to 64 letters, digits, _ and -");
  }
  if (body !== undefined && (method === "GET" || method === "HEAD")) throw wrong(`sends no body with ${method}`);
  const given = readHeaders(headers);
  if (body !== undefined && typeof body !== "string" && !given.has("content-type")) {
    given.set("content-type", "application/json");
  }
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return {
    request: { url: readUrl(url), written: String(url), method, headers: given, body: text },
    isExpected: readExpectation(expectStatus),
    output,
  };
}

function readUrl(url: unknown): URL {
  if (typeof url !== "string" || !URL.canParse(url)) throw wrong("takes an http or https address as url");
  const parsed = new URL(url);
  if (!/^https?:$/.test(parsed.protocol)) throw wrong("takes an http or https address as url");
  if (parsed.username !== "" || parsed.password !== "") {
    throw wrong("takes no name and password in its url: put them into an Authorization header");
  }
  return parsed;
}

function readHeaders(headers: unknown): Headers {
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) throw wrong("takes a map as headers");
  const read = new Headers();
  for (const [name, value] of Object.entries(headers as Record<string, unknown>)) {
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean")
      throw wrong(`takes a text as header ${JSON.stringify(name)}`);
    try {
      read.append(name, String(value));
    } catch {
      throw wrong(
        `cannot send the header ${JSON.stringify(name)}: its name or its value has characters that no header has`,
      );
    }
  }
  return read;
}

function readExpectation(expected: unknown): HttpRequestArgs["isExpected"] {
  if (expected === undefined) return (status) => status >= 200 && status <= 299;
  const list = Array.isArray(expected) ? expected.map(Number) : [];
  if (list.length === 0 || !list.every((status) => Number.isInteger(status) && status >= 100 && status <= 599)) {
    throw wrong("takes a list of status codes as expectStatus");
  }
  return (status) => list.includes(status);
}

function wrong(what: string): MillraceError {
  return new MillraceError("malformed_request", `http ${what}`);
}
