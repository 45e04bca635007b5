/**
 * Checks secrets: no value stands where it may not, and every step got a value that its secret had at that time. Pure.
 */
import type { Evidence, RunEvidence, SecretVersion, StepEvidence, Violation } from "./evidence.ts";

export function checkSecrets(evidence: Evidence): readonly Violation[] {
  return [
    ...evidence.leaks.map(({ secret, form, place, detail }): Violation => {
      const where = detail === "" ? place : `${place} (${detail})`;
      return { kind: "leaked", text: `${secret} stands ${form} in ${where}` };
    }),
    ...evidence.runs.flatMap((run) =>
      run.jobs.flatMap(({ steps }) => steps.flatMap((step) => checkStep(run, step, evidence))),
    ),
  ];
}

function checkStep(
  run: RunEvidence,
  { stepRunId, secrets = 0 }: StepEvidence,
  { marks, secretsGiven, secretVersions }: Evidence,
): readonly Violation[] {
  if (secrets === 0) return [];
  const found: Violation[] = [];
  const say = (kind: Violation["kind"], text: string) =>
    found.push({ kind, text: `step ${stepRunId} of run ${run.runId} ${text}` });
  const given = secretsGiven.filter((one) => one.stepRunId === stepRunId);
  const own = marks.filter((mark) => mark.stepRunId === stepRunId);
  if (own.some(({ word }) => word === "end") && given.length !== secrets) {
    say("lost", `reads ${secrets} secrets and reported ${given.length}`);
  }
  const queuedAt = run.events.find((event) => event.stepRunId === stepRunId)?.timeMs ?? 0;
  const startedAt = own.find(({ word }) => word === "start")?.at ?? Infinity;
  for (const { secret, sum } of given) {
    const versions = secretVersions.filter((version) => version.secret === secret && version.sum === sum);
    if (versions.length === 0) {
      say("wrong", `got a value for ${secret} that the secret never had`);
    } else if (!versions.some((version) => mayHold(version, queuedAt, startedAt))) {
      const { number, fromMs, untilMs } = versions[0]!;
      const period = `from ${fromMs} until ${untilMs} at the latest`;
      say(
        "wrong",
        `got version ${number} of ${secret} between ${queuedAt} and ${startedAt}, but that version held ${period}`,
      );
    }
  }
  return found;
}

/** True when the version may have been the secret's value at some time from `fromMs` to `untilMs`. */
function mayHold(version: SecretVersion, fromMs: number, untilMs: number): boolean {
  return version.fromMs <= untilMs && version.untilMs >= fromMs;
}
