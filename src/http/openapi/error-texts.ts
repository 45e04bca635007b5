/** What each error means and what to do about it, for the pages about the API. */
import type { ErrorReason } from "../../domain/errors.ts";

interface ErrorText {
  readonly when: string;
  readonly advice: string;
}

export const ERROR_TEXTS: Readonly<Record<ErrorReason, ErrorText>> = {
  malformed_request: {
    when: "the request has unknown, missing or wrong fields",
    advice: "correct every problem in `errors`; `pointer` names its place",
  },
  invalid_definition: {
    when: "the definition has errors",
    advice: "correct every diagnostic in `errors`; diagnostics.md explains each code",
  },
  unauthenticated: {
    when: "there is no token, or one that is unknown, expired or revoked",
    advice: "log in again, or send another token",
  },
  forbidden: {
    when: "the role, the scopes or the kind of the token are not enough",
    advice: "use a token with the role or scope that `errMsg` names",
  },
  not_found: {
    when: "there is no such object or path, or it was removed",
    advice: "check the path and its ids",
  },
  method_not_allowed: {
    when: "the path has no such method",
    advice: "use a method of the header `Allow`",
  },
  not_acceptable: {
    when: "`Accept` refuses the type of the answer",
    advice: "accept `application/json`, or leave `Accept` out",
  },
  request_timeout: {
    when: "the headers of the request did not arrive in time",
    advice: "repeat the call; http-api.md lists the times",
  },
  conflict: {
    when: "the state of the object does not allow it",
    advice: "read the object; `errMsg` says which state is in the way",
  },
  already_exists: {
    when: "the name is taken",
    advice: "choose another name, or change the object that has it",
  },
  head_moved: {
    when: "another save changed the definition meanwhile",
    advice: "read the head, merge the change and save again",
  },
  request_id_reused: {
    when: "the `requestId` or the `Idempotency-Key` was used with another body",
    advice: "use a new id for a new request",
  },
  precondition_failed: {
    when: "the object is not the one that `If-Match` names",
    advice: "read the object again, and repeat the change with its new `ETag`",
  },
  payload_too_large: {
    when: "the body is too large",
    advice: "send less; http-api.md lists the sizes",
  },
  range_not_satisfiable: {
    when: "the range begins after the end of the file",
    advice: "ask for a range within the size that `Content-Range` names",
  },
  unsupported_media_type: {
    when: "the `Content-Type` is not the one that the route takes",
    advice: "send `Content-Type: application/json`, or for a plugin `application/gzip`",
  },
  git_refused: {
    when: "a Git server refuses the call, or the definition cannot be read from it",
    advice: "correct what `errors` names; git.md says how",
  },
  headers_too_large: {
    when: "the request line and the headers are too large",
    advice: "send a shorter address, or smaller headers",
  },
  too_large: {
    when: "the stored or answered data would exceed a limit",
    advice: "make the definition, the variables or the answer smaller, as `errMsg` says",
  },
  slow_reader: {
    when: "the caller reads too slowly",
    advice: "read faster, or ask for less at a time",
  },
  too_many: {
    when: "there are too many objects or calls of this kind",
    advice: "wait for the seconds of `Retry-After`, then repeat the call",
  },
  internal: {
    when: "the program has a fault",
    advice: "give an administrator the request id in `errMsg`, under which the log has the fault",
  },
  not_implemented: {
    when: "this version does not support it",
    advice: "leave it out, or use a newer version",
  },
  unavailable: {
    when: "the store, Redis or a worker is unavailable",
    advice: "wait for the seconds of `Retry-After`, then repeat the call; a command may have been stored",
  },
  deadline_exceeded: {
    when: "the caller's deadline has passed",
    advice: "repeat the call with a later deadline",
  },
};
