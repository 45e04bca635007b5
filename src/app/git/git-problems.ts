/** Faults of Git as errors for users. */
import { MillraceError, type Problem } from "../../domain/errors.ts";
import { GitFault, type GitFaultKind } from "../../git/git-fault.ts";

/** The field of a pipeline that a fault is about. */
const POINTERS: Partial<Record<GitFaultKind, string>> = {
  forbiddenAddress: "/repoUrl",
  redirected: "/repoUrl",
  certificate: "/repoUrl",
  unknownHostKey: "/repoUrl",
  changedHostKey: "/repoUrl",
  notFound: "/repoUrl",
  unreachable: "/repoUrl",
  authentication: "/repoCredential",
  readOnly: "/repoCredential",
  appKey: "/repoCredential",
  appNotInstalled: "/repoCredential",
  appSuspended: "/repoCredential",
  appPermission: "/repoCredential",
  noRef: "/defaultBranch",
  tooLarge: "/pipelineFilePath",
};
const RETRY_SECONDS: Partial<Record<GitFaultKind, number>> = { tooMany: 60, unreachable: 10, cutOff: 10, timedOut: 10 };

/** Does work with Git, whose faults become errors: `unavailable` for one that may pass, else `git_refused`. */
export async function withGit<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof GitFault ? errorOf(error, problemOf(error)) : error;
  }
}

/** {@link withGit} for work with a ref that a caller or an event names: when it is missing, no field of the pipeline is wrong. */
export async function withNamedRef<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GitFault)) throw error;
    const problem = problemOf(error);
    throw errorOf(error, error.kind === "noRef" ? { ...problem, pointer: "" } : problem);
  }
}

function errorOf(fault: GitFault, problem: Problem): MillraceError {
  const { kind, message } = fault;
  const problems = [problem];
  if (!fault.mayPass) return new MillraceError("git_refused", message, { problems, cause: fault });
  const retryAfterSeconds = fault.retryAfterSeconds ?? RETRY_SECONDS[kind] ?? 1;
  return new MillraceError("unavailable", message, { problems, retryAfterSeconds, cause: fault });
}

export function problemOf({ kind, message, isOfApi }: GitFault): Problem {
  const pointer = POINTERS[kind] ?? "";
  return {
    code: codeOf(kind),
    pointer: isOfApi && pointer === "/repoCredential" ? "/repoApiCredential" : pointer,
    message,
  };
}

/** `unknownHostKey` is `git_unknown_host_key`. */
function codeOf(kind: GitFaultKind): string {
  return `git_${kind.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
}

export function malformed(pointer: string, message: string): MillraceError {
  return new MillraceError("malformed_request", `${pointer} ${message}`, {
    problems: [{ code: "invalid", pointer, message }],
  });
}
