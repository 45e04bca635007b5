/** docs/errors.md, made from the error table. */
import { status } from "@grpc/grpc-js";
import { ERROR_TABLE, type ErrorReason } from "../../src/domain/errors.ts";
import { ERROR_TEXTS } from "../../src/http/openapi/error-texts.ts";

const RETRY = { never: "no", later: "yes" } as const;

export function deriveErrorsPage(): string {
  const rows = (Object.keys(ERROR_TABLE) as ErrorReason[]).map((reason) => {
    const { http, grpc, retry } = ERROR_TABLE[reason];
    const { when, advice } = ERROR_TEXTS[reason];
    const cells = [`\`${reason}\``, http, `\`${status[grpc]}\``, RETRY[retry], when, linked(advice)];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "# Errors",
    "",
    "Every error of HTTP and gRPC has one of these reasons, which never change their meaning. Over HTTP it is `reason` of the",
    "[envelope](http-api.md#errors). The columns `HTTP` and `gRPC` are the statuses; the column `Again` says whether the same",
    "call may succeed later without a change. `npm run generate` writes this page from the error table.",
    "",
    "| Reason | HTTP | gRPC | Again | When | What to do |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function linked(text: string): string {
  return text.replace(/\b([\w-]+\.md)\b/g, "[$1]($1)");
}
