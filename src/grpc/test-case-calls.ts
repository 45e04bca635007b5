/** gateway.v1, test cases: agents send the test cases of a step in parts. */
import { z } from "zod";
import {
  type GatewayServer,
  type PushTestCasesRequest,
  type PushTestCasesResponse,
  TestOutcome as OutcomeCode,
} from "../../proto/generated/gateway/v1/gateway.ts";
import type { AppContext } from "../app/context.ts";
import { TEST_BOUNDS, type TestOutcome } from "../domain/notes/notes.ts";
import { takeTestCases } from "../gateway/ingest/test-case-ingest.ts";
import { callingAgent } from "../gateway/registration.ts";
import { stepGrant } from "./artifact-calls.ts";
import { type Duplex, duplex, type StreamContext } from "./calls.ts";
import { parseMessage } from "./messages/parse-message.ts";

const OUTCOMES: Readonly<Record<string, TestOutcome>> = {
  [OutcomeCode.TEST_OUTCOME_FAILED]: "failed",
  [OutcomeCode.TEST_OUTCOME_PASSED]: "passed",
  [OutcomeCode.TEST_OUTCOME_SKIPPED]: "skipped",
};
const MAX_PARTS = 500;

const wholeNumber = z.int().nonnegative();
const text = z.string().max(TEST_BOUNDS.name);

const request = z.object({
  ...stepGrant,
  part: wholeNumber.max(MAX_PARTS - 1),
  cases: z
    .array(
      z
        .object({
          suite: text,
          name: text,
          file: text,
          line: wholeNumber,
          outcome: z.string().transform((code) => OUTCOMES[code] ?? ("skipped" as const)),
          flaky: z.boolean(),
          durationMs: z.bigint().nonnegative().max(BigInt(Number.MAX_SAFE_INTEGER)).transform(Number),
          message: z.string().max(TEST_BOUNDS.message),
        })
        .transform(({ flaky, ...one }) => ({ ...one, isFlaky: flaky })),
    )
    .min(1)
    .max(TEST_BOUNDS.partCases),
});

export function testCaseCalls(context: StreamContext): Pick<GatewayServer, "pushTestCases"> {
  return { pushTestCases: duplex(context, (call) => pushTestCases(context, call)) };
}

async function pushTestCases(
  context: AppContext,
  { caller, requests, write }: Duplex<PushTestCasesRequest, PushTestCasesResponse>,
): Promise<void> {
  const agentId = callingAgent(caller);
  for (let next = await requests.next(); next.done !== true; next = await requests.next()) {
    const parsed = parseMessage(request, next.value);
    await write({ part: parsed.part, stored: await takeTestCases(context, agentId, parsed) });
  }
}
