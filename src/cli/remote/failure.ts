/** What a failed call means at the command line: an exit status, a text, and what to do next. */
import {
  AnswerTooLargeError,
  ApiError,
  ClientError,
  DeviceLoginError,
  type ErrorReason,
  ForeignAnswerError,
  isTemporary,
  ParameterError,
} from "../../../clients/typescript/src/index.ts";
import { CommandFailure } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";
import { visible } from "./visible.ts";

const STATUSES: Partial<Readonly<Record<ErrorReason, number>>> = {
  unauthenticated: EXIT.unauthenticated,
  forbidden: EXIT.forbidden,
  not_found: EXIT.notFound,
};

/** What a user can do after each error; the message of the error says what is wrong. */
const NEXT_STEPS: Readonly<Record<ErrorReason, string>> = {
  malformed_request: "correct the command; its --help names the arguments and options",
  invalid_definition: "`millrace validate FILE` shows each problem with its place",
  unauthenticated: "log in again: millrace login",
  forbidden: "`millrace whoami` shows what you may do; ask an administrator for a higher role",
  not_found: "check the name; `millrace projects` and `millrace pipelines` list what you may see",
  method_not_allowed: "the page /api/v1/docs of the server has every path with its methods",
  not_acceptable: "ask for another type of answer; the page /api/v1/docs of the server has the types",
  request_timeout: "repeat the command",
  conflict: "look at the object as it is now, and repeat the command if it still applies",
  already_exists: "choose another name, or change what has this name",
  head_moved: "read the newest definition, merge your change, and save again",
  request_id_reused: "repeat the first command as it was, or use another id",
  precondition_failed: "read the object again, and repeat the command with what you then know",
  payload_too_large: "send less, or in parts",
  range_not_satisfiable: "ask for a part that the file has",
  unsupported_media_type: "the page /api/v1/docs of the server has the types that it takes",
  git_refused: "correct what the message names; `millrace pipelines show` reads the definition again",
  headers_too_large: "give shorter names and filters",
  too_large: "make the definition, the run or what you ask for smaller",
  slow_reader: "read faster, or ask for less",
  too_many: "wait, and repeat the command",
  internal: "tell an administrator the request id",
  not_implemented: "use what this version of the server has, or a newer server",
  unavailable: "repeat the command later; `millrace runs` shows whether it had an effect",
  deadline_exceeded: "repeat the command",
};

/** How an error of a command that calls a server ends it; errors of other kinds are answered as they are. */
export function failureOf(error: unknown): unknown {
  if (error instanceof DeviceLoginError) {
    return new CommandFailure(visible(error.message), EXIT.unauthenticated, { next: "millrace login" });
  }
  if (error instanceof ParameterError) {
    return new CommandFailure(`nothing on a server can have the name "${visible(error.value)}"`, EXIT.usage);
  }
  if (!(error instanceof ClientError)) return error;
  const status = isTemporary(error) ? EXIT.unavailable : EXIT.failure;
  if (error instanceof ApiError) {
    const { reason, problems, requestId, retryAfterMs } = error;
    const wait =
      retryAfterMs === undefined ? undefined : `wait ${Math.ceil(retryAfterMs / 1_000)} s, and repeat the command`;
    const shown = problems.filter(({ message }) => !error.message.includes(message));
    return new CommandFailure(visible(error.message), STATUSES[reason] ?? status, {
      details: shown.flatMap(linesOf),
      next: wait ?? NEXT_STEPS[reason],
      machine: { reason, problems, requestId },
    });
  }
  return new CommandFailure(visible(error.message), status, {
    next: nextStepOf(error),
    machine: { reason: reasonOf(error) },
  });
}

/** What another user has changed is a diff, which people read line by line. Every other problem is one line. */
function linesOf({ code, pointer, message }: ApiError["problems"][number]): readonly string[] {
  if (code !== "other_diff") return [visible(`${pointer} ${message}`.trimStart())];
  return message.replace(/\n$/, "").split("\n").map(visible);
}

function nextStepOf(error: ClientError): string {
  if (error instanceof ForeignAnswerError)
    return "check the address: `millrace contexts` shows the servers that you use";
  if (error instanceof AnswerTooLargeError) return "ask for less, for example with --limit";
  return "check that the server runs and that its address is right: millrace contexts";
}

function reasonOf(error: ClientError): string {
  if (error instanceof ForeignAnswerError) return "foreign_answer";
  return error instanceof AnswerTooLargeError ? "answer_too_large" : "unreachable";
}
