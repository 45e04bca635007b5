/** What a request of the builtin `http` fails of, in words: Node's own say "fetch failed". */
import { MillraceError } from "../../../domain/errors.ts";

const DNS = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_NODATA", "EAI_NONAME"]);
const REACH = new Set(["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "EHOSTDOWN"]);
const SILENCE = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);
/** Of OpenSSL's checks of a certificate, and Node's of its name. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ISSUER/;
const TLS = /^ERR_SSL|^ERR_TLS|^EPROTO$/;

/** `host` is that of the request which failed; nothing else of it is told. */
export function requestProblem(error: unknown, host: string): MillraceError {
  const code = codeOf(error);
  return new MillraceError("unavailable", `the request to ${host} failed: ${wordsFor(code)}`, { cause: error });
}

function wordsFor(code: string): string {
  if (DNS.has(code)) return `the host's name cannot be resolved (${code})`;
  if (code === "ECONNREFUSED") return "nothing there accepts connections (ECONNREFUSED)";
  if (REACH.has(code)) return `the host cannot be reached (${code})`;
  if (SILENCE.has(code)) return "the host did not answer for five minutes";
  if (CERTIFICATE.test(code)) return `the host's certificate is not trusted by this agent (${code})`;
  if (TLS.test(code)) return `no TLS connection can be made (${code})`;
  return `the connection broke off${code === "" ? "" : ` (${code})`}`;
}

/** Of the error or what is behind it. */
function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === "string") return code;
  }
  return "";
}
