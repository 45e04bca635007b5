/** What can go wrong between a node and a Git server, as data. */

/**
 * The kinds of faults, and whether the same call may succeed later without a change by a person.
 *
 * - `noGit`, `noSsh`: the node's machine lacks a program.
 * - `forbiddenAddress`: the host is not on the public internet, and the operator has not allowed its network.
 * - `authentication`: the server refuses the credential, or asks for one; `readOnly`: it lets the credential read only.
 * - `notFound`: no such repository, or it is hidden from this credential; `noRef`: it has no such branch, tag or commit.
 * - `unreachable`, `cutOff`, `timedOut`, `tooMany`: the server does not answer, breaks off, is slow, or wants fewer calls.
 * - `refused`: the API of the host refuses the call.
 * - `appKey`, `appNotInstalled`, `appSuspended`, `appPermission`: the host refuses a token of a GitHub App, because of the
 *   private key, the installation, its suspension, or a permission that it lacks; `clockSkew`: because of this node's clock.
 * - `tooLarge`: more bytes than the bounds admit; `hostile`: objects that no honest client makes.
 */
const FAULTS = {
  noGit: { mayPass: true },
  noSsh: { mayPass: true },
  noRoom: { mayPass: true },
  forbiddenAddress: { mayPass: false },
  redirected: { mayPass: false },
  certificate: { mayPass: false },
  unknownHostKey: { mayPass: false },
  changedHostKey: { mayPass: false },
  authentication: { mayPass: false },
  readOnly: { mayPass: false },
  notFound: { mayPass: false },
  noRef: { mayPass: false },
  unreachable: { mayPass: true },
  cutOff: { mayPass: true },
  timedOut: { mayPass: true },
  tooMany: { mayPass: true },
  busy: { mayPass: true },
  tooLarge: { mayPass: false },
  hostile: { mayPass: false },
  refused: { mayPass: false },
  appKey: { mayPass: false },
  appNotInstalled: { mayPass: false },
  appSuspended: { mayPass: false },
  appPermission: { mayPass: false },
  clockSkew: { mayPass: true },
  other: { mayPass: false },
} as const satisfies Record<string, { readonly mayPass: boolean }>;

export type GitFaultKind = keyof typeof FAULTS;

/** The message says what is wrong, where, and what to do. It holds no credential. */
export class GitFault extends Error {
  override readonly name = "GitFault";
  readonly kind: GitFaultKind;
  /** True for a fault of the API of the host, and not of its Git. */
  readonly isOfApi: boolean;
  /** How long the host wants to be left alone; null when it does not say. */
  readonly retryAfterSeconds: number | null;

  constructor(
    kind: GitFaultKind,
    message: string,
    more: { isOfApi?: boolean; retryAfterSeconds?: number | null } = {},
  ) {
    super(message);
    this.kind = kind;
    this.isOfApi = more.isOfApi ?? false;
    this.retryAfterSeconds = more.retryAfterSeconds ?? null;
  }

  /** Whether the same call may succeed later. */
  get mayPass(): boolean {
    return FAULTS[this.kind].mayPass;
  }
}
