/** Recognizes in the messages of Git, curl and ssh what went wrong. Pure. */
import { GitFault, type GitFaultKind } from "./git-fault.ts";

/**
 * Signs of faults, in the order of the search: a message that names its cause comes before its consequences. `says`
 * continues a sentence that names the action and the repository.
 */
const SIGNS: readonly (readonly [sign: RegExp, kind: GitFaultKind, says: string])[] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed/,
    "changedHostKey",
    "the SSH server shows another key than the pinned one: if its operator has changed it, replace the line in the file that MILLRACE_GIT_KNOWN_HOSTS_FILE names",
  ],
  [
    /Host key verification failed|host key is known for/,
    "unknownHostKey",
    "the SSH server shows a key that is not pinned: add it to the file that MILLRACE_GIT_KNOWN_HOSTS_FILE names",
  ],
  [/No space left on device|Disk quota exceeded/, "noRoom", "this node's disk is full: make room, and try again"],
  [
    /File too large|died of signal 25|file size limit|exceeds maximum allowed size|pack too large/i,
    "tooLarge",
    "the server sends more than the bound on a fetch; a server that ignores filters sends the whole repository",
  ],
  [
    /out of memory|cannot allocate memory|mmap failed|died of signal 9/i,
    "tooLarge",
    "the repository needs more memory than a command may have",
  ],
  [
    /fsck error|hasDotgit|hasDot\b|fullPathname|treeNotSorted|missingSpace|bad tree|duplicateEntries|gitmodules[A-Z]\w+/,
    "hostile",
    "the repository holds objects that Git refuses as malformed: repair it with `git fsck`",
  ],
  [
    /transport '[^']*' not allowed|redirect|returned error: 30\d\b/i,
    "redirected",
    "the server redirects to another address: redirects are not followed, so write the final address as `repoUrl`",
  ],
  [
    /SSL certificate problem|server certificate verification failed|certificate subject name|unable to get local issuer/,
    "certificate",
    "the certificate of the server is not trusted: an operator can name its authority with MILLRACE_GIT_CA_FILE",
  ],
  [
    /marked as read.only|read-only (?:access|repository|key)|not allowed to push|service not enabled|(?:write|push) access (?:to repository )?(?:not granted|denied)|Permission to \S+ denied/i,
    "readOnly",
    "the credential may only read: give it the right to write",
  ],
  [
    /could not read Username|could not read Password|terminal prompts disabled/,
    "authentication",
    "the server asks for a credential: store a token as a secret, and name that as `repoCredential`",
  ],
  [
    /Load key .*(?:error|invalid|passphrase)|Error loading key/,
    "authentication",
    "the private key cannot be read: it is damaged, or has a passphrase",
  ],
  [
    /Authentication failed|Permission denied|HTTP Basic: Access denied|returned error: 401\b/,
    "authentication",
    "the server refuses the credential: give the secret that `repoCredential` names a new value",
  ],
  [
    /returned error: 403\b/,
    "authentication",
    "the server forbids this to the credential (403): give it the right to the repository, or use another one",
  ],
  [
    /repository '.*' not found|[Rr]epository not found|does not appear to be a git repository|returned error: 404\b|access denied or repository not exported|not found: did you run/,
    "notFound",
    "there is no such repository, or the credential does not see it: check `repoUrl` and `repoCredential`",
  ],
  [
    /mismatched algorithms/,
    "other",
    "the repository names its objects by SHA-256, which is not supported: use one with SHA-1, as hosts make them by default",
  ],
  [
    /not valid: is this a git repository|could not determine hash algorithm/,
    "notFound",
    "the server answers with something else than a repository, such as a page to log in: check `repoUrl` and `repoCredential`",
  ],
  [
    /unexpected TLS packet|wrong version number|unknown protocol|record layer failure/i,
    "notFound",
    "the server does not speak TLS at this address: check `https://` and the port of `repoUrl`",
  ],
  [/returned error: 429\b|Too Many Requests/i, "tooMany", "the server wants fewer calls (429): try again later"],
  [/Could not resolve|name resolution|unable to look up/, "unreachable", "the name of the host cannot be resolved"],
  [
    /Failed to connect|Couldn't connect|Connection (?:refused|timed out)|unable to connect|No route to host|Network is unreachable|Operation timed out|connect to host/,
    "unreachable",
    "the server cannot be reached: try again later",
  ],
  [
    /Operation too slow|early EOF|RPC failed|unexpected disconnect|hung up unexpectedly|Connection (?:reset|closed)|returned error: 5\d\d\b|gnutls_handshake|SSL_(?:ERROR|connect)|Empty reply from server|transfer closed|end of file|bad line length|protocol error|invalid index-pack|expected '?\w+'?,? got|Could not read from remote/i,
    "cutOff",
    "the connection broke off, or the server failed: try again later",
  ],
];

const NO_REF =
  /couldn't find remote ref|not our ref|no such remote ref|unadvertised object|Server does not allow request/;
const MAX_WORDS = 2_000;

/** The fault that the messages describe. `what` names the action and the repository. */
export function faultOf(stderr: string, what: string, secrets: readonly string[]): GitFault {
  const found = SIGNS.find(([sign]) => sign.test(stderr));
  if (found !== undefined) return new GitFault(found[1], `${what} failed: ${found[2]}`);
  if (NO_REF.test(stderr)) return new GitFault("noRef", `${what} failed: there is no such ref`);
  return new GitFault("other", `${what} failed: ${shownWords(stderr, secrets) || "Git says nothing about it"}`);
}

/** What the server says to people: the lines that Git marks with `remote:`. */
export function wordsOfServer(stderr: string, secrets: readonly string[]): string {
  const lines = stderr.split(/[\r\n]+/).flatMap((line) => /^remote: ?(.*)$/.exec(line)?.[1]?.trim() ?? []);
  return shownWords(lines.filter((line) => line !== "").join("\n"), secrets);
}

/** A message as people may see it: without secrets and control characters, and bounded. */
export function shownWords(text: string, secrets: readonly string[]): string {
  const masked = secrets
    .filter((secret) => secret !== "")
    .reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
  const plain = masked.replaceAll(/[^\P{C}\n]/gu, "").trim();
  return plain.length <= MAX_WORDS ? plain : `${plain.slice(0, MAX_WORDS)}...`;
}
