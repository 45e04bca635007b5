/** The calls on service accounts, which projects and tenants both have. */
import { api, type Schemas } from "../api/client.ts";
import type { Area } from "./area.ts";
import type { TokenFields } from "../parts/tokens.tsx";

/** The installation owns none. */
export type Owner = Exclude<Area, { readonly kind: "installation" }>;

const IN_PROJECT = "/projects/{projectId}/service-accounts";
const IN_TENANT = "/tenants/{tenantId}/service-accounts";
const ACCOUNT = "{userId}";
const TOKENS = "{userId}/tokens";
const TOKEN = "{userId}/tokens/{tokenId}";

export function listAccounts(owner: Owner, after: string | undefined, signal: AbortSignal) {
  const query = { pageSize: 100, ...(after === undefined ? {} : { after }) };
  return owner.kind === "project"
    ? api.get(IN_PROJECT, { path: owner, query, signal })
    : api.get(IN_TENANT, { path: owner, query, signal });
}

export function createAccount(owner: Owner, name: string): Promise<Schemas["User"]> {
  const body = { name };
  return owner.kind === "project"
    ? api.post(IN_PROJECT, { path: owner, body })
    : api.post(IN_TENANT, { path: owner, body });
}

export function deleteAccount(owner: Owner, userId: string) {
  return owner.kind === "project"
    ? api.delete(`${IN_PROJECT}/${ACCOUNT}`, { path: { ...owner, userId } })
    : api.delete(`${IN_TENANT}/${ACCOUNT}`, { path: { ...owner, userId } });
}

export function listTokens(owner: Owner, userId: string, signal: AbortSignal) {
  const query = { pageSize: 100 };
  return owner.kind === "project"
    ? api.get(`${IN_PROJECT}/${TOKENS}`, { path: { ...owner, userId }, query, signal })
    : api.get(`${IN_TENANT}/${TOKENS}`, { path: { ...owner, userId }, query, signal });
}

/** The answer is the only one that shows the token. */
export function createToken(owner: Owner, userId: string, body: TokenFields): Promise<Schemas["NewToken"]> {
  return owner.kind === "project"
    ? api.post(`${IN_PROJECT}/${TOKENS}`, { path: { ...owner, userId }, body })
    : api.post(`${IN_TENANT}/${TOKENS}`, { path: { ...owner, userId }, body });
}

export function deleteToken(owner: Owner, userId: string, tokenId: string) {
  return owner.kind === "project"
    ? api.delete(`${IN_PROJECT}/${TOKEN}`, { path: { ...owner, userId, tokenId } })
    : api.delete(`${IN_TENANT}/${TOKEN}`, { path: { ...owner, userId, tokenId } });
}
