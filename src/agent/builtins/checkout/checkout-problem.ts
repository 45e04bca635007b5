/** Why a checkout fails: the faults, their exit codes, and how they are recognized in the messages of Git. */

/**
 * Exit codes by fault, for `retry.exitCodes`. They are those of sysexits.h where one fits. Only `network` may disappear
 * at the next attempt.
 */
export const CHECKOUT_EXITS = {
  usage: { code: 64, words: "its arguments cannot be carried out" },
  noRef: { code: 65, words: "the repository has no such branch, tag or commit" },
  noRepository: { code: 66, words: "the repository does not exist, or this agent has no access to it" },
  noGit: { code: 69, words: "this agent's machine has no suitable Git or SSH" },
  other: { code: 70, words: "Git failed" },
  files: { code: 73, words: "the files cannot be put into the workspace" },
  network: { code: 75, words: "the repository cannot be reached now; a retry may help" },
  authentication: {
    code: 77,
    words: "the repository refuses the agent, or the agent does not trust the repository's host",
  },
} as const;

export type CheckoutFault = keyof typeof CHECKOUT_EXITS;

/** The reason of a failed checkout. Its message is one line for users and holds no credential. */
export class CheckoutProblem extends Error {
  readonly fault: CheckoutFault;

  constructor(fault: CheckoutFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/**
 * Git's messages and their faults, in the order of the search: a message that names its cause comes before its
 * consequences.
 */
const SIGNS: readonly (readonly [sign: RegExp, fault: CheckoutFault, says: string])[] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed/,
    "authentication",
    "the repository's host shows another key than the one in known_hosts of the agent's user: replace the line there only if the host has published the new key",
  ],
  [
    /Host key verification failed/,
    "authentication",
    "this agent does not know the key of the repository's host: add it to known_hosts of the agent's user",
  ],
  [/No space left on device|Disk quota exceeded/, "files", "there is no room for it on this machine's disk"],
  [
    /submodule path .* did not contain [0-9a-f]+\. Direct fetching/,
    "noRef",
    "the repository of a submodule no longer has the commit that is asked for: push the commit, or move the submodule to another one",
  ],
  [
    /unexpected TLS packet|wrong version number|unknown protocol|record layer failure/i,
    "usage",
    "the host does not speak TLS at this address: check `https://` and the port",
  ],
  [
    /mismatched algorithms/,
    "usage",
    "the repository names its objects by SHA-256, which is not supported: use one with SHA-1",
  ],
  [/transport '[^']*' not allowed/, "usage", "it would be fetched by a transport that is not allowed"],
  [
    /SSL certificate problem|server certificate verification failed|certificate subject name/,
    "authentication",
    "the certificate of the repository's host is not trusted on this agent's machine",
  ],
  [
    /could not read Username|could not read Password|terminal prompts disabled/,
    "authentication",
    "the repository asks for a credential: name a secret as `credential`",
  ],
  [
    /Authentication failed|Permission denied \(|HTTP Basic: Access denied|returned error: 40[13]\b/,
    "authentication",
    "authentication failed: the repository refuses this credential, or asks for one",
  ],
  [
    /repository '.*' not found|[Rr]epository not found|does not appear to be a git repository|returned error: 404\b|access denied or repository not exported/,
    "noRepository",
    "the repository does not exist, or it is not visible without another credential",
  ],
  [
    /Could not resolve (?:host|proxy|hostname)|name resolution|unable to look up/,
    "network",
    "the name of the repository's host cannot be resolved",
  ],
  [
    /Failed to connect|Couldn't connect|Connection (?:refused|timed out|reset|closed)|unable to connect|No route to host|Network is unreachable|Operation timed out/,
    "network",
    "the repository's host cannot be reached",
  ],
  [
    /Operation too slow|early EOF|RPC failed|unexpected disconnect|hung up unexpectedly|returned error: (?:429|5\d\d)\b|gnutls_handshake|SSL_(?:ERROR|connect)|Empty reply from server/,
    "network",
    "the connection to the repository broke off",
  ],
];

/**
 * The problem that Git's messages describe. `what` names the action that failed. The messages themselves are in the
 * log.
 */
export function problemOf(stderr: string, what: string): CheckoutProblem {
  const found = SIGNS.find(([sign]) => sign.test(stderr));
  if (found === undefined) return new CheckoutProblem("other", `${what} failed, as Git says above`);
  const [, fault, says] = found;
  return new CheckoutProblem(fault, `${what} failed: ${says}`);
}
