/** What is told of a step's end: nothing in it is a secret that the step was given. */
import { LogStream } from "../../proto/generated/gateway/v1/gateway.ts";
import type { OutputTarget } from "./logs/output-capture.ts";
import type { StepEnd } from "./step-end.ts";

/**
 * The same end with its reason masked. An output that holds a secret is not taken, since what reads it would not know to
 * mask it; the log says so in lines of its own.
 */
export function tellable(end: StepEnd, target: OutputTarget): StepEnd {
  const { log, secrets } = target;
  if (secrets.isEmpty) return end;
  const outputs: [name: string, value: string][] = [];
  for (const [name, value] of Object.entries(end.outputs)) {
    if (!secrets.isIn(value) && !secrets.isIn(name)) outputs.push([name, value]);
    else tellWithheld([secrets.mask(name)], target);
  }
  return { ...end, reason: secrets.mask(end.reason), outputs: Object.fromEntries(outputs), lastLine: log.lastLine };
}

/** Says in the log which outputs are not taken; their names are masked already. */
export function tellWithheld(names: readonly string[], { shipper, log }: OutputTarget): void {
  for (const name of names) {
    const text = `millrace: the output ${name} holds a secret, so it is not taken`;
    shipper.add(log, LogStream.LOG_STREAM_STDERR, text, Date.now());
  }
}
