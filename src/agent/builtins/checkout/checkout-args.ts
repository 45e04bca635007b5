/** The arguments of the builtin `checkout`. They come over the network and have not been validated before. */
import { posix } from "node:path";
import { FULL_COMMIT, NO_REF_NAME } from "../../../domain/names.ts";
import { CheckoutProblem } from "./checkout-problem.ts";
import { parseArguments } from "../shell-step.ts";

/**
 * What to check out: the repository's HEAD, a branch, a name that may be a branch, tag or commit, or a full commit id.
 */
export type CheckoutTarget =
  | { readonly kind: "head" }
  | { readonly kind: "branch" | "name"; readonly name: string }
  | { readonly kind: "commit"; readonly id: string };

export interface Repository {
  readonly url: string;
  readonly transport: "http" | "ssh" | "git" | "file";
  /** The place for which a credential is valid: the origin of the address over http, its host otherwise. */
  readonly credentialScope: string;
}

export interface CheckoutRequest {
  readonly repository: Repository;
  readonly target: CheckoutTarget;
  /** Number of commits of history; 0 for all. */
  readonly depth: number;
  readonly submodules: "none" | "direct" | "recursive";
  /** Empty for none. */
  readonly credential: string;
  /** Path in the workspace; empty for its root. */
  readonly folder: string;
}

const MAX_DEPTH = 1_000_000;
const DEFAULT_DEPTH = 1;
const TRANSPORTS: Readonly<Record<string, Repository["transport"]>> = {
  "http:": "http",
  "https:": "http",
  "ssh:": "ssh",
  "git:": "git",
  "file:": "file",
};
/** `user@host:path`. No part of it can be taken for an option of ssh or Git. */
const SHORT_SSH = /^\w[\w.-]*@(\w[\w.-]*):[^\s-][^\s\p{Cc}]*$/u;

/**
 * Checks the arguments. Throws a {@link CheckoutProblem}, whose text holds no credential, for the first that is wrong.
 */
export function readCheckoutRequest(json: string): CheckoutRequest {
  // An argument whose expression has an empty value counts as absent.
  const given = Object.entries(parseArguments(json)).filter(([, value]) => value !== null && value !== "");
  const args: Readonly<Record<string, unknown>> = Object.fromEntries(given);
  const { repo, branch, ref, depth, submodules, credential = "", path, ...others } = args;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw wrong(`there is no argument "${unknown}"`);
  if (typeof credential !== "string") throw wrong("`credential` must be a text");
  return {
    repository: readRepository(repo),
    target: readTarget(branch, ref),
    depth: readDepth(depth),
    submodules: readSubmodules(submodules),
    credential,
    folder: readFolder(path),
  };
}

function readRepository(repo: unknown): Repository {
  if (repo === undefined) throw wrong("there is no repository: give `repo`, or a `source`");
  if (typeof repo !== "string") throw wrong("`repo` must be the address of a repository");
  const short = SHORT_SSH.exec(repo);
  if (short !== null) return { url: repo, transport: "ssh", credentialScope: short[1]! };
  const url = /^[a-z]+:\/\/[^\s\p{Cc}]+$/u.test(repo) && URL.canParse(repo) ? new URL(repo) : undefined;
  const transport = url && TRANSPORTS[url.protocol];
  if (url === undefined || transport === undefined) {
    throw wrong("`repo` is no address of a repository: write https://, ssh://, git://, file:// or user@host:path");
  }
  if (url.password !== "") throw wrong("the address in `repo` holds a password: name a secret as `credential` instead");
  const isOption = url.username.startsWith("-") || url.hostname.startsWith("-");
  const isHostless = url.hostname === "" && transport !== "file";
  if (isOption || isHostless) throw wrong("`repo` is no address of a repository: its host cannot be one");
  const credentialScope = transport === "http" ? url.origin : url.hostname.replaceAll(/^\[|\]$/g, "");
  return { url: repo, transport, credentialScope };
}

function readTarget(branch: unknown, ref: unknown): CheckoutTarget {
  const isBranch = branch !== undefined;
  const given = branch ?? ref;
  if (given === undefined) return { kind: "head" };
  if (isBranch && ref !== undefined) throw wrong("give either `branch` or `ref`, not both");
  if (typeof given !== "string" && typeof given !== "number") throw wrong("`ref` must be a text");
  const name = String(given);
  if (!isBranch && name === "HEAD") return { kind: "head" };
  if (!isBranch && FULL_COMMIT.test(name)) return { kind: "commit", id: name.toLowerCase() };
  if (NO_REF_NAME.test(name)) throw wrong(`${JSON.stringify(name)} cannot be the name of a branch, a tag or a commit`);
  return { kind: isBranch ? "branch" : "name", name };
}

/** Also takes a text with digits, since the value of an expression may be a text. */
function readDepth(depth: unknown = DEFAULT_DEPTH): number {
  const value = typeof depth === "string" && /^\d{1,7}$/.test(depth) ? Number(depth) : depth;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_DEPTH) return value;
  throw wrong(`\`depth\` must be a whole number from 0 to ${MAX_DEPTH}`);
}

function readSubmodules(submodules: unknown = false): CheckoutRequest["submodules"] {
  switch (String(submodules)) {
    case "false":
      return "none";
    case "true":
      return "direct";
    case "recursive":
      return "recursive";
    default:
      throw wrong("`submodules` must be true, false or recursive");
  }
}

function readFolder(path: unknown = ""): string {
  if (typeof path !== "string") throw wrong("`path` must be a folder of the workspace");
  const folder = posix.normalize(path).replace(/\/+$/, "");
  if (folder === ".") return "";
  if (!posix.isAbsolute(path) && folder !== ".." && !folder.startsWith("../") && !folder.includes("\0")) return folder;
  throw wrong(`\`path\` ${JSON.stringify(path)} leads out of the workspace`);
}

function wrong(what: string): CheckoutProblem {
  return new CheckoutProblem("usage", what);
}
