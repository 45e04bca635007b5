/** How a host's API says what the port asks for. Dialects are data and pure functions; provider-client.ts sends. */
import type { z } from "zod";
import type { CommitStatus, HostUser, NewProposal, Proposal, StatusState } from "./provider.ts";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Behind the base of the API, with its query. */
  readonly path: string;
  readonly body?: object;
}

export interface Dialect {
  /** What the host calls it, for messages. */
  readonly noun: "pull request" | "merge request";
  /** The fewest and most parts of a repository's path. */
  readonly parts: readonly [least: number, most: number];
  headers(credential: string): Readonly<Record<string, string>>;
  find(repository: readonly string[], branch: string, target: string): ApiRequest;
  /** What an answer of `find` holds: the proposal, or undefined. A 404 is undefined where `missing` is 404. */
  readonly found: z.ZodType<Proposal | undefined>;
  /** The status with which `find` answers that there is no proposal; absent for an empty list. */
  readonly missing?: 404;
  create(repository: readonly string[], proposal: NewProposal): ApiRequest;
  readonly created: z.ZodType<Proposal>;
  /** The statuses with which `create` may say that there is an open proposal already. */
  readonly exists: readonly number[];
  permission(repository: readonly string[], user: HostUser): ApiRequest;
  /** Whether an answer of `permission` says that the user may push. A 404 says that the user may not. */
  readonly mayWrite: z.ZodType<boolean>;
  proposal(repository: readonly string[], number: number): ApiRequest;
  /** The newest commit of a proposal. */
  readonly head: z.ZodType<string>;
  setStatus(repository: readonly string[], status: CommitStatus): ApiRequest;
  /**
   * Whether the words of a refusal with status 400 say that the host shows this state, or a later one of the same run, already.
   * Absent where a repeat is no error.
   */
  readonly isShown?: (words: string, state: StatusState) => boolean;
}

/** A query of these pairs. */
export function query(pairs: Readonly<Record<string, string>>): string {
  return new URLSearchParams(pairs).toString();
}

/** The parts of a path, each encoded. */
export function path(parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join("/");
}

/** The token of `user:token`. */
export function tokenOf(credential: string): string {
  return credential.slice(credential.indexOf(":") + 1);
}
