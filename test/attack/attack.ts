/** What an attack is, and what it knows of the installation that it attacks. */

/**
 * The rights that the attacker has: a caller without a token, a viewer, an author of definitions who also triggers them,
 * the program of a step, or a program that holds the token of an agent.
 */
export type Attacker = "anyone" | "viewer" | "author" | "step" | "agent";

/** A user who attacks, with the rights of one role. */
type Role = "viewer" | "operator" | "maintainer";

/** Where the installation listens, as the process of an attack learns it. All of it is plain JSON. */
export interface Addresses {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly url: string;
  /** `host:port` of the gRPC listener. */
  readonly gateway: string;
  /** The token of a user of each role; the probes call with tokens of other users. */
  readonly tokens: Readonly<Record<Role, string>>;
  /** With it, an attack may connect agents of its own. */
  readonly registrationToken: string;
}

export interface Target extends Addresses {
  /** Counts an answer by its kind, such as `429 too_many` or `closed 1013`. The report shows all counts. */
  count(kind: string): void;
  /**
   * An HTTP call, whose answer is counted as its status with the reason of the error. Resolves with null when the connection
   * ended without an answer, which is counted too. `body` is sent as JSON unless it is text already.
   */
  call(method: string, path: string, options?: CallOptions): Promise<Answer | null>;
}

export interface CallOptions {
  /** The bearer token; none when absent. */
  readonly token?: string;
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  /** The body as JSON, or as text where it is no JSON. */
  readonly body: unknown;
}

export interface Attack {
  /** In kebab case; the name of the file. */
  readonly name: string;
  /** What the attacker does, as a sentence without a subject. */
  readonly title: string;
  readonly as: Attacker;
  /** Attacks until `signal` aborts, or once. It may leave connections open: its process ends with it. */
  run(target: Target, signal: AbortSignal): Promise<void>;
}
