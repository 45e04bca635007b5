/** The description of the API as it is published, made at once. */
import { describeApi, type OpenApiDocument } from "../../src/http/openapi/document.ts";
import { DESCRIBED_ROUTES } from "../../src/http/openapi/openapi-routes.ts";

/** With `closesAnswers`, an answer with a member that its shape does not have is refused. */
export function describeAtOnce({ closesAnswers }: { readonly closesAnswers: boolean }): OpenApiDocument {
  const work = describeApi(DESCRIBED_ROUTES, { closesAnswers });
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** The text of docs/openapi.json. */
export function deriveOpenApi(): string {
  return `${JSON.stringify(describeAtOnce({ closesAnswers: false }), null, 2)}\n`;
}
