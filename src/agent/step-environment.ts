/** The environment variables of a step: a few of the agent's own, those of the dispatch, and the ids of the run. */
import type { Dispatch } from "../../proto/generated/agent/v1/agent.ts";
import { MillraceError } from "../domain/errors.ts";
import type { StepUser } from "./process/step-user.ts";

/** Variables that programs need on this machine. A step sees no other variable of the agent's environment. */
const INHERITED = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/**
 * `given`: variables of the services of the job. Variables of the dispatch override those of the machine, in their order; those of millrace override both. Throws
 * `malformed_request` for a name that a shell cannot hold, because some shells drop such a variable silently.
 */
export function stepEnvironment(
  dispatch: Dispatch,
  workspace: string,
  files: { readonly outputs: string; readonly summary: string; readonly events: string },
  user?: StepUser,
  given: Readonly<Record<string, string>> = {},
): Record<string, string> {
  // A container has the variables of its image, and none of this machine.
  const { container } = dispatch;
  const env = container === undefined ? ofThisMachine(user) : {};
  Object.assign(env, given);
  for (const { name, value } of [...(container?.env ?? []), ...dispatch.env]) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new MillraceError(
        "malformed_request",
        `${JSON.stringify(name)} cannot be the name of an environment variable: use letters, digits and _`,
      );
    }
    env[name] = value;
  }
  return {
    ...env,
    CI: "true",
    MILLRACE: "true",
    MILLRACE_RUN_ID: dispatch.runId,
    MILLRACE_PIPELINE_ID: dispatch.pipelineId,
    MILLRACE_JOB_ID: dispatch.jobId,
    MILLRACE_JOB_NAME: dispatch.jobName,
    MILLRACE_JOB_ATTEMPT: String(dispatch.jobAttempt),
    MILLRACE_STEP_RUN_ID: dispatch.stepRunId,
    MILLRACE_STEP_NAME: dispatch.stepName,
    MILLRACE_WORKSPACE: workspace,
    MILLRACE_OUTPUT: files.outputs,
    MILLRACE_SUMMARY: files.summary,
    MILLRACE_EVENTS: files.events,
  };
}

function ofThisMachine(user: StepUser | undefined): Record<string, string> {
  const env: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" };
  for (const name of INHERITED) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  if (user !== undefined) {
    const { name, home } = user;
    Object.assign(env, { HOME: home, USER: name, LOGNAME: name });
    // Those of the agent's user may not be for this one.
    delete env["SHELL"];
    delete env["TMPDIR"];
  }
  return env;
}
