/** The client of the API for this page. The browser sends the cookie of its session with every call. */
import { MillraceClient } from "../../../clients/typescript/src/client.ts";
import type { Schemas as ApiSchemas } from "../../../clients/typescript/src/api-types.ts";
import { leaveForLogin } from "./expiry.ts";

export type Schemas = ApiSchemas;

export const api = new MillraceClient({
  baseUrl: location.origin,
  retries: 2,
  async fetch(input, init) {
    const response = await fetch(input, init);
    if (response.status === 401) leaveForLogin();
    return response;
  },
});
