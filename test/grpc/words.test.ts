import { expect } from "chai";
import {
  approvalStatusToNumber,
  jobStatusToNumber,
  runStatusToNumber,
} from "../../proto/generated/pipeline/v1/pipeline.ts";
import { labelOperatorToNumber, stepRunStatusToNumber } from "../../proto/generated/steprun/v1/steprun.ts";
import { LABEL_OPERATORS } from "../../src/domain/labels.ts";
import { APPROVAL_STATUSES, JOB_STATUS_CODES, RUN_STATUS_CODES, STEP_STATUS_CODES } from "../../src/domain/status.ts";
import * as messages from "../../src/grpc/messages/words.ts";

describe("words in messages", () => {
  const numbers = <W extends string, M>(map: Readonly<Record<W, M>>, numberOf: (message: M) => number) =>
    Object.fromEntries(Object.entries<M>(map).map(([word, message]) => [word, numberOf(message)]));

  it("have the same numeric codes as in HTTP and events", () => {
    expect(numbers(messages.RUN_STATUSES, runStatusToNumber)).to.deep.equal(RUN_STATUS_CODES);
    expect(numbers(messages.JOB_STATUSES, jobStatusToNumber)).to.deep.equal(JOB_STATUS_CODES);
    expect(numbers(messages.STEP_STATUSES, stepRunStatusToNumber)).to.deep.equal(STEP_STATUS_CODES);
  });

  it("without codes count from 1 in the order of the domain's lists", () => {
    const inOrder = (list: readonly string[]) => Object.fromEntries(list.map((word, at) => [word, at + 1]));
    expect(numbers(messages.APPROVAL_STATUSES, approvalStatusToNumber)).to.deep.equal(inOrder(APPROVAL_STATUSES));
    expect(numbers(messages.LABEL_OPERATORS, labelOperatorToNumber)).to.deep.equal(inOrder(LABEL_OPERATORS));
  });

  it("are found by their enum value, and UNSPECIFIED has none", () => {
    expect(messages.wordOf(messages.RUN_STATUSES, "RUN_STATUS_PARTIAL")).to.equal("partial");
    expect(messages.wordOf(messages.RUN_STATUSES, "RUN_STATUS_UNSPECIFIED")).to.equal(undefined);
  });
});
