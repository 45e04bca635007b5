/** Addresses of repositories: `https://`, `ssh://` and `user@host:path`, taken apart and checked. Pure. */
import { isIP } from "node:net";

export interface Remote {
  readonly transport: "https" | "http" | "ssh";
  /** Without brackets, for an address of IPv6 too. */
  readonly host: string;
  readonly port: number;
  /** The user that the address names; null for none. */
  readonly user: string | null;
  /** What Git is given. It never holds a user of http, nor any password. */
  readonly url: string;
}

const MAX_CHARS = 2_000;
const PORTS: Readonly<Record<Remote["transport"], number>> = { https: 443, http: 80, ssh: 22 };
/** No part of it can be taken for an option of ssh or Git. */
const USER = /^\w[\w.-]*$/;
const HOST = /^(?:[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?|\[[\da-fA-F:.]+\])$/;
/** Tokens that hosts make. Addresses may have one in place of a user, and addresses are shown. */
const TOKEN = /^(?:gh[a-z]_|github_pat_|gl[a-z]+-|ATBB|ATCTT|[\da-f]{40}$|.{64})/;
const SHORT_SSH = /^([^@/:\s]+)@([^@/:\s]+|\[[^\]\s]+\]):(\S+)$/;
/** No character has a meaning in a shell, in settings of Git or in ssh. */
const SAFE_PATH = /^[\w./~@%+=,-]+$/;

/** The address, or what is wrong with it, in the form `must be ...`. */
export function parseRemote(text: string): Remote | string {
  if (text.length > MAX_CHARS) return `must have at most ${MAX_CHARS} characters`;
  if (/[\s\p{C}]/u.test(text)) return "must have no white space";
  const short = SHORT_SSH.exec(text);
  if (short !== null && !text.includes("://")) {
    const [, user = "", host = "", path = ""] = short;
    return sshRemote({ user, host, port: PORTS.ssh, path, url: text });
  }
  const parts = /^(https?|ssh):\/\//.exec(text) !== null && URL.canParse(text) ? new URL(text) : undefined;
  if (parts === undefined) return "must be the address of a repository: https://, ssh:// or user@host:path";
  if (parts.password !== "" || TOKEN.test(parts.username))
    return "must hold no password: store it as a secret, and name that as `repoCredential`";
  if (parts.search !== "" || parts.hash !== "") return "must have no query and no fragment";
  const transport = parts.protocol.slice(0, -1) as Remote["transport"];
  const port = parts.port === "" ? PORTS[transport] : Number(parts.port);
  const user = decoded(parts.username);
  if (transport === "ssh") {
    return sshRemote({ user: user === "" ? "git" : user, host: parts.hostname, port, path: parts.pathname, url: null });
  }
  if (!HOST.test(parts.hostname)) return "must name a host of letters, digits, hyphens and dots";
  if (parts.pathname.length < 2 || !SAFE_PATH.test(parts.pathname)) return PATH_RULE;
  parts.username = "";
  return { transport, host: bare(parts.hostname), port, user: user === "" ? null : user, url: parts.href };
}

const PATH_RULE = "must have a path of letters, digits and `./~@%+=,-_`";

function sshRemote(given: {
  readonly user: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** Null: one is made. */
  readonly url: string | null;
}): Remote | string {
  const { user, host, port, path } = given;
  if (!USER.test(user)) return "must name a user of letters, digits, `_`, `.` and `-` before the host";
  if (!HOST.test(host)) return "must name a host of letters, digits, hyphens and dots";
  if (path === "" || path === "/" || path.startsWith("-") || !SAFE_PATH.test(path)) return PATH_RULE;
  const url = given.url ?? `ssh://${user}@${host}${port === PORTS.ssh ? "" : `:${port}`}${path}`;
  return { transport: "ssh", host: bare(host), port, user, url };
}

/** The host as it stands in an address. */
export function hostInUrl({ host }: Pick<Remote, "host">): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** The path of the repository at its host, without slashes at its ends and without `.git`. */
export function repositoryPath({ url }: Pick<Remote, "url">): string {
  const short = /^[^@/:\s]+@(?:\[[^\]]+\]|[^:/]+):(.*)$/.exec(url)?.[1];
  return (short ?? new URL(url).pathname)
    .replace(/^\/+/, "")
    .replace(/\/*$/, "")
    .replace(/\.git$/, "");
}

/** The same text for the addresses of one repository over https and ssh, as long as these use their usual ports. */
export function repositoryKey(remote: Remote): string {
  const { transport, host, port } = remote;
  const place = port === PORTS[transport] ? host : `${host}:${port}`;
  return `${place.toLowerCase()}/${repositoryPath(remote)}`;
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
