/**
 * The one place where a caller is authenticated and authorised, for HTTP, WebSocket and gRPC alike.
 */
import type { AgentId, TokenId, UserId } from "../domain/ids.ts";
import type { Role } from "../stores/identity.ts";

/** Who calls. Agents and registration tokens reach the agent operations of gRPC and nothing else. */
export type Caller =
  | { readonly kind: "user"; readonly userId: UserId; readonly name: string; readonly role: Role; readonly scopes: readonly string[] }
  | { readonly kind: "agent"; readonly agentId: AgentId }
  | { readonly kind: "registration"; readonly tokenId: TokenId };
