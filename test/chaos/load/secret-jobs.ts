/** Jobs that read secrets. They report the checksum of each value, and print the values wherever a step can. */
import { type Job, secretLedgerOf, step } from "./step.ts";
import type { SecretName } from "./secrets.ts";

/** The parts of the installation that the definitions of the load name. */
export interface DefinitionInputs {
  /** Path of the file to which steps write their marks. */
  readonly ledger: string;
  /** A server that answers with the request's body. */
  readonly mirrorUrl: string;
  /** A text that is no secret and that steps print: the search must find it, which shows that the search works. */
  readonly control: string;
}

const valueOf = (name: SecretName): string => `\${{ secrets.${name} }}`;

/** Shell function: reports the checksum of the value $2 that the step got for the secret $1. */
const GIVEN = `
given() { echo "$MILLRACE_STEP_RUN_ID $1 $(printf %s "$2" | sha256sum | cut -d" " -f1)" >> "$SECRET_LEDGER"; }`;

/** Shell function: prints the value $1 in all forms that the agent masks, once also in two writes. */
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

/**
 * Writes outputs that hold secret values. The base64 of the last one is folded, so its second line is not part of that
 * output.
 */
const LEAVE = `
printf 'token=%s\\n' "$PLAIN" >> "$MILLRACE_OUTPUT"
printf 'key<<END\\n%s\\nEND\\n' "$MANY_LINES" >> "$MILLRACE_OUTPUT"
printf 'basic=%s\\n' "$(printf 'user:%s' "$ENCODED" | base64)" >> "$MILLRACE_OUTPUT"`;

const ALL = { PLAIN: valueOf("PLAIN"), MANY_LINES: valueOf("MANY_LINES"), ENCODED: valueOf("ENCODED") };

/** Jobs that read all secrets. The pipeline has its own `ENCODED` and `MANY_LINES` besides those of its project. */
export function confidingJobs({ ledger, control }: DefinitionInputs): readonly Job[] {
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

/** A job that fails with secret values in its last lines, and a request whose answer holds secret values. */
export function blurtingJobs({ ledger, control, mirrorUrl }: DefinitionInputs): readonly Job[] {
  const dies = `${GIVEN}${PRINT}
given project/PLAIN "$PLAIN"
given project/MANY_LINES "$MANY_LINES"
given project/ENCODED "$ENCODED"
printf '%s: wrong password %s\\n' "$CONTROL" "$PLAIN" >&2
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
