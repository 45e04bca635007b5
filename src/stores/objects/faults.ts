/** Says what is wrong with an object storage, and what to do. */
import { MillraceError } from "../../domain/errors.ts";
import type { ObjectPlace } from "../../settings/object-storage.ts";

/** What the client of an object storage throws: an answer of the server, or a failure to get one. */
interface Fault {
  /** The code of the answer in S3, such as `NoSuchKey`; else the kind of error. */
  readonly name: string;
  /** The code of the system, such as `ECONNREFUSED`. */
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const MISSING = new Set(["NoSuchKey", "NotFound", "NoSuchUpload"]);
const NO_CREDENTIALS = new Set(["CredentialsProviderError", "TokenProviderError"]);
const OTHER_REGION = new Set([
  "PermanentRedirect",
  "AuthorizationHeaderMalformed",
  "IllegalLocationConstraintException",
]);

/** True when the storage says that there is no such object or upload. */
export function isMissing(error: unknown): boolean {
  return MISSING.has((error as Fault).name);
}

/** True when the range begins behind the end of the object. */
export function isBehindEnd(error: unknown): boolean {
  const { name, $metadata } = error as Fault;
  return name === "InvalidRange" || $metadata?.httpStatusCode === 416;
}

/** The place as an operator knows it. */
export function textOfPlace({ bucket, prefix, endpoint }: ObjectPlace): string {
  const url = `s3://${bucket}/${prefix}`.replace(/\/$/, "");
  return endpoint === null ? url : `${url} at ${endpoint}`;
}

/** The error for callers. It names no key of the storage's owner and quotes no answer. */
export function translateObjectFault(error: unknown, place: ObjectPlace): MillraceError {
  if (error instanceof MillraceError) return error;
  const text = `the object storage ${textOfPlace(place)} ${adviceOn(error as Fault)}`;
  return new MillraceError("unavailable", text, { cause: error });
}

/** True for a fault that stays until an operator changes something. */
export function isMisconfigured({ cause }: MillraceError): boolean {
  const { name = "", $metadata } = (cause ?? {}) as Partial<Fault>;
  const status = $metadata?.httpStatusCode;
  return NO_CREDENTIALS.has(name) || OTHER_REGION.has(name) || status === 401 || status === 403 || status === 404;
}

function adviceOn({ name, code, $metadata }: Fault): string {
  const status = $metadata?.httpStatusCode;
  if (NO_CREDENTIALS.has(name)) {
    return "cannot be used without credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role";
  }
  if (OTHER_REGION.has(name) || status === 301) {
    return `is in another region (${name}): correct MILLRACE_OBJECT_STORAGE_REGION`;
  }
  if (name === "NoSuchBucket" || (name === "NotFound" && status === 404)) {
    return "has no such bucket: create it, or correct MILLRACE_OBJECT_STORAGE";
  }
  if (status === 401 || status === 403) {
    return `refuses the credentials (${name}): check them, and what they allow in the bucket`;
  }
  if (status !== undefined) return `answers ${status} (${name}): try again in a moment`;
  return `cannot be reached (${code ?? name}): check its address and the network`;
}
