/** What becomes of the end of a step: its outputs, annotations and reasons, without its secrets. */
import { StepPhase } from "../../proto/generated/agent/v1/agent.ts";
import { LogStream } from "../../proto/generated/gateway/v1/gateway.ts";
import type { OutputTarget } from "./logs/output-capture.ts";
import type { ProcessExit } from "./process/launch-protocol.ts";
import type { StepEnd } from "./step-end.ts";
import type { StepOutputs } from "./step-outputs.ts";

/** Adds the outputs that the step wrote. A step that succeeded fails when its outputs file has a problem. */
export function withOutputs(end: StepEnd, { outputs: written, problem }: StepOutputs): StepEnd {
  const outputs = { ...end.outputs, ...written };
  if (problem === undefined || end.phase !== StepPhase.STEP_PHASE_SUCCEEDED) return { ...end, outputs };
  const reason = `the outputs in MILLRACE_OUTPUT cannot be read: ${problem}`;
  return { ...end, outputs, phase: StepPhase.STEP_PHASE_FAILED, reason };
}

/** The same end with the cause that the kernel has ended a process for lack of memory; `whose`: the memory. */
export function outOfMemory(end: StepEnd, whose: string): StepEnd {
  return { ...end, reason: `out_of_memory: the memory ${whose} was used up (${end.reason})` };
}

export function hasEndedByItself({ phase }: StepEnd): boolean {
  return phase === StepPhase.STEP_PHASE_SUCCEEDED || phase === StepPhase.STEP_PHASE_FAILED;
}

export function withAnnotations(end: StepEnd, { annotations }: OutputTarget): StepEnd {
  return end.phase === StepPhase.STEP_PHASE_LOST ? end : { ...end, annotations: annotations.annotations };
}

/**
 * The same end with the step's secrets masked in its reason, and without outputs that hold a secret: a step that reads
 * such an output would not know to mask it. A line in the log names each output that is left out.
 */
export function withoutSecrets(end: StepEnd, target: OutputTarget): StepEnd {
  const { log, secrets } = target;
  if (secrets.isEmpty) return end;
  const outputs: [name: string, value: string][] = [];
  for (const [name, value] of Object.entries(end.outputs)) {
    if (!secrets.isIn(value) && !secrets.isIn(name)) outputs.push([name, value]);
    else logWithheldOutputs([secrets.mask(name)], target);
  }
  return { ...end, reason: secrets.mask(end.reason), outputs: Object.fromEntries(outputs), lastLine: log.lastLine };
}

/** Writes to the log which outputs were left out. The caller has masked their names. */
export function logWithheldOutputs(names: readonly string[], { shipper, log }: OutputTarget): void {
  for (const name of names) {
    const text = `millrace: the output ${name} holds a secret, so it is not taken`;
    shipper.add(log, LogStream.LOG_STREAM_STDERR, text, Date.now());
  }
}

export function sayTo({ shipper, log, secrets }: OutputTarget): (line: string) => void {
  return (line) => shipper.add(log, LogStream.LOG_STREAM_STDOUT, `millrace: ${secrets.mask(line)}`, Date.now());
}

export function describeExit({ code, signal }: ProcessExit): string {
  if (signal !== null) return `ended by ${signal}`;
  return code === 0 ? "" : `exit code ${code}`;
}
