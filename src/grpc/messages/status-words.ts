/** Status words as the enums of the contract, whose numbers are the codes of the words. */
import type {
  JobStatus as JobMessage,
  RunStatus as RunMessage,
} from "../../../proto/generated/pipeline/v1/pipeline.ts";
import type { StepRunStatus as StepMessage } from "../../../proto/generated/steprun/v1/steprun.ts";
import type { JobStatus, RunStatus, StepStatus } from "../../domain/status.ts";

export function runStatusMessage(status: RunStatus): RunMessage {
  return `RUN_STATUS_${upper(status)}`;
}

export function jobStatusMessage(status: JobStatus): JobMessage {
  return `JOB_STATUS_${upper(status)}`;
}

export function stepStatusMessage(status: StepStatus): StepMessage {
  return `STEP_RUN_STATUS_${upper(status)}`;
}

function upper<Word extends string>(word: Word): Uppercase<Word> {
  return word.toUpperCase() as Uppercase<Word>;
}
