/** How a repository is opened: with a text that a secret holds, or with tokens that are made when they are needed. */

/** What a piece of work does with the repository. */
export type GitRight = "readCode" | "writeCode";

/** Makes tokens that live for a short time. */
export interface TokenSource<Right extends string> {
  /** Stands for all of its tokens where it counts whose credential something is. Never shown. */
  readonly key: string;
  /** `user:token`, for no more than the right. Rejects with a `GitFault`. */
  token(right: Right): Promise<string>;
  /** The server has refused the token: it is not handed out again. */
  forget(token: string): void;
}

/** A token, `user:password` or a private key of SSH; null for none. */
export type Credential = string | TokenSource<GitRight> | null;

/** What stands for the credential: the credential itself, or the key of its source. */
export function keyOfCredential(credential: Credential): string | null {
  return credential === null || typeof credential === "string" ? credential : `source ${credential.key}`;
}
