/** steprun.v1: further attempts of steps; what else the contract names is not available yet. */
import type { UntypedServiceImplementation } from "@grpc/grpc-js";
import { type StepRunServer, StepRunService } from "../../proto/generated/steprun/v1/steprun.ts";
import type { AppContext } from "../app/context.ts";
import { retryStepRun } from "../app/retry-step-run.ts";
import { asId, type StepRunId } from "../domain/ids.ts";
import { unary } from "./calls.ts";
import { stepRunRecord } from "./step-run-messages.ts";
import { unimplementedService } from "./unimplemented.ts";

export function stepRunService(context: AppContext): UntypedServiceImplementation {
  return { ...unimplementedService(StepRunService, context.log), ...available(context) };
}

function available(context: AppContext): Pick<StepRunServer, "retryStepRun"> {
  return {
    retryStepRun: unary(context, async ({ stepRunId, requestId }, { caller }) => ({
      stepRun: stepRunRecord(await retryStepRun(context, caller, { stepRunId: asId<StepRunId>(stepRunId), requestId })),
    })),
  };
}
