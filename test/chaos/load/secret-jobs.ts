/** Jobs that are given secrets, tell what they were given by its checksum, and write it wherever a step can. */
import { type Job, secretLedgerOf, step } from "./step.ts";
import type { SecretName } from "./secrets.ts";

/** What the definitions refer to. */
export interface Surroundings {
  /** The file for marks. */
  readonly ledger: string;
  /** A server that answers with what it was sent. */
  readonly mirrorUrl: string;
  /** What a step may print, and prints. */
  readonly control: string;
}

const valueOf = (name: SecretName): string => `\${{ secrets.${name} }}`;

/** Notes the checksum of what the step was given as a secret. */
const GIVEN = `
given() { echo "$MILLRACE_STEP_RUN_ID $1 $(printf %s "$2" | sha256sum | cut -d" " -f1)" >> "$SECRET_LEDGER"; }`;

/** Prints the value $1 in forms that the agent masks; in two writes, too. */
const PRINT = `
say() {
  printf 'as it is: %s\\n' "$1"
  printf %s "$1" | head -c 8; sleep 0.1; printf '%s\\n' "$(printf %s "$1" | tail -c +9)"
  printf %s "$1" | base64
  printf 'user:%s' "$1" | base64
  printf 'name=%s&more' "$1" | base64 | tr '+/' '-_'
  printf '%s\\n' "$1" | while IFS= read -r line; do printf '> %s\\n' "$line"; done
  printf '{"token":"%s"}\\n' "$(printf %s "$1" | sed 's/["\\\\]/\\\\&/g')"
}`;

/** Tries outputs that hold values; the last one, a folded line, goes on in what is an output by itself or none. */
const LEAVE = `
printf 'token=%s\\n' "$PLAIN" >> "$MILLRACE_OUTPUT"
printf 'key<<END\\n%s\\nEND\\n' "$MANY_LINES" >> "$MILLRACE_OUTPUT"
printf 'basic=%s\\n' "$(printf 'user:%s' "$ENCODED" | base64)" >> "$MILLRACE_OUTPUT"`;

const ALL = { PLAIN: valueOf("PLAIN"), MANY_LINES: valueOf("MANY_LINES"), ENCODED: valueOf("ENCODED") };

/** The pipeline has an `ENCODED` and `MANY_LINES` of its own. */
export function confidingJobs({ ledger, control }: Surroundings): readonly Job[] {
  const env = { SECRET_LEDGER: secretLedgerOf(ledger), CONTROL: control };
  const tells = `${GIVEN}${PRINT}
echo "$CONTROL"
given project/PLAIN "$PLAIN"
given confiding/MANY_LINES "$MANY_LINES"
given confiding/ENCODED "$ENCODED"
given project/ROTATED "$ROTATED"
for value in "$PLAIN" "$MANY_LINES" "$ENCODED" "$ROTATED"; do say "$value"; done
say "$ROTATED" >&2
${LEAVE}`;
  const takes = `${GIVEN}${PRINT}
echo "$CONTROL <$TOKEN>"
given project/ROTATED '${valueOf("ROTATED")}'
say '${valueOf("ROTATED")}'
set -x
true 'the token is ${valueOf("ROTATED")}'
set +x`;
  return [
    {
      name: "confides",
      env: { ROTATED: valueOf("ROTATED") },
      outputs: { token: "${{ steps.tells.outputs.token }}", control: "${{ steps.tells.outputs.control }}" },
      steps: [step(ledger, "tells", { does: tells, env: { ...env, ...ALL }, writes: `control=${control}` })],
    },
    {
      name: "goes-on",
      needs: ["confides"],
      steps: [step(ledger, "takes", { does: takes, env: { ...env, TOKEN: "${{ jobs.confides.outputs.token }}" } })],
    },
  ];
}

/** Fails with the values in what it says of it, and in the answer of a server. */
export function blurtingJobs({ ledger, control, mirrorUrl }: Surroundings): readonly Job[] {
  const dies = `${GIVEN}${PRINT}
given project/PLAIN "$PLAIN"
given project/MANY_LINES "$MANY_LINES"
given project/ENCODED "$ENCODED"
printf '%s: nobody has the password %s\\n' "$CONTROL" "$PLAIN" >&2
{ say "$PLAIN"; say "$MANY_LINES"; say "$ENCODED"; } >&2
set -x
true "$PLAIN" "$ENCODED"
set +x`;
  const env = { SECRET_LEDGER: secretLedgerOf(ledger), CONTROL: control, ...ALL };
  const body = `${control}: ${valueOf("PLAIN")} ${valueOf("ENCODED")}`;
  return [
    {
      name: "blurts",
      steps: [
        step(ledger, "dies", { does: dies, env, exitCode: 3 }),
        { name: "asks", when: "always()", uses: "http", args: { url: mirrorUrl, method: "POST", body } },
      ],
    },
  ];
}
