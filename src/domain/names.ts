/**
 * What names may hold: they stand in lists, logs and terminals, and must look like what they are. And slugs: the short
 * names of tenants and projects for addresses and scripts. And paths of definitions in repositories.
 */

/**
 * For use within the brackets of a regular expression with the flag `u`: control characters, separators of lines, marks that
 * reorder the text around them, and halves of surrogate pairs.
 */
export const NOT_IN_NAMES = "\\p{Cc}\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\p{Cs}";

/** Matches a text of one line that holds nothing of {@link NOT_IN_NAMES}; also the empty text. */
export const PLAIN_TEXT = new RegExp(`^[^${NOT_IN_NAMES}]*$`, "u");
/** Says what {@link PLAIN_TEXT} asks for. */
export const PLAIN_TEXT_RULE = "must have no control characters, line breaks or marks that reorder text";

/** The name of a secret or of a variable. */
export const VARIABLE_NAME = /^[A-Za-z_]\w{0,127}$/;

/** The full id of a commit of Git, in letters of either case. */
export const FULL_COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;
/** Matches texts that cannot be the name of a branch or tag of Git. Source: git-check-ref-format(1). */
export const NO_REF_NAME = /^[-/.]|[\s\p{Cc}~^:?*[\\]|\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)|[/.]$|^@$|^$/u;

/** The format of a definition in a repository, by the path of its file. */
export function formatOfPath(path: string): "json" | "yaml" {
  return path.endsWith(".json") ? "json" : "yaml";
}

const MAX_PATH_CHARS = 1_000;
const EXTENSION = /\.(?:ya?ml|json)$/;
/** Git refuses these names where a file system could take them for `.git`. */
const GIT_FOLDER = /^(?:\.git|git~\d+)[. ]*$/i;

/**
 * What is wrong with the path of a file of a repository as a definition, or as a part of one, in the form `must ...`; undefined
 * when it is good.
 */
export function definitionPathProblem(path: string): string | undefined {
  if (path.length > MAX_PATH_CHARS) return `must have at most ${MAX_PATH_CHARS} characters`;
  if (/[\p{Cc}\\]/u.test(path)) return "must have `/` between folders, no backslash and no control character";
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) {
    return "must be a path from the root of the repository, such as .millrace/pipeline.yaml";
  }
  if (parts.some((part) => GIT_FOLDER.test(part.replaceAll(/\p{Cf}/gu, "")))) return "must not lead into .git";
  return EXTENSION.test(path) ? undefined : "must end in .yaml, .yml or .json";
}

const MAX_SLUG_CHARS = 63;
/** Words of lower-case letters and digits, joined by single hyphens. No id of a tenant or project that was made matches. */
const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** Says what {@link isSlug} asks for. */
export const SLUG_RULE = `must be 1 to ${MAX_SLUG_CHARS} lower-case letters and digits, with single hyphens between them`;

export function isSlug(text: string): boolean {
  return text.length <= MAX_SLUG_CHARS && SLUG.test(text);
}

/**
 * The slug that follows from a name: what is no letter of a to z and no digit becomes a hyphen. `fallback` for a name that
 * leaves nothing.
 */
export function derivedSlug(name: string, fallback: string): string {
  const joined = asciiLower(name).replace(/[^a-z0-9]+/g, "-");
  return trimmed(joined.replace(/^-/, "")) || fallback;
}

/** The slug with something behind it that tells it from another one, for example `website-2`. */
export function distinctSlug(slug: string, distinction: string): string {
  return `${trimmed(slug.slice(0, MAX_SLUG_CHARS - distinction.length - 1))}-${distinction}`;
}

/** The part of an id that differs from all others, as a part of a slug. */
export function slugPartOf(id: string): string {
  return asciiLower(id.slice(id.indexOf("_") + 1)).replace(/[^a-z0-9]/g, "");
}

function trimmed(text: string): string {
  return text.slice(0, MAX_SLUG_CHARS).replace(/-$/, "");
}

/** Only A to Z, as SQLite does: other letters become hyphens in both stores. */
function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Longest name of an environment that is kept, characters. */
const ENVIRONMENT_CHARS = 200;

/** The name of an environment from the value of an expression, in one line and cut to its bound; undefined for none. */
export function environmentNameOf(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const line = String(value)
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  // The bound may cut a character in two.
  const name = line.slice(0, ENVIRONMENT_CHARS).replace(/[\p{Cs}\s]+$/u, "");
  return name === "" ? undefined : name;
}
