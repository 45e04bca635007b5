/** The environment of a step: little of the agent's own, what the dispatch says, and the ids of what runs. */
import type { Dispatch } from "../../proto/generated/agent/v1/agent.ts";
import { MillraceError } from "../domain/errors.ts";

/** What programs need to find their way on this machine; nothing else of the agent's environment reaches a step. */
const INHERITED = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/**
 * Later ones win: the machine's, the dispatch's in their order, ours. `malformed_request` for a name that a shell cannot
 * hold: some shells would drop it without a word.
 */
export function stepEnvironment(dispatch: Dispatch, workspace: string, outputsFile: string): Record<string, string> {
  const env: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" };
  for (const name of INHERITED) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  for (const { name, value } of dispatch.env) {
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
    MILLRACE_OUTPUT: outputsFile,
  };
}
