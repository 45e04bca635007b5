/** Which paths lead to a file of a repository that can be a definition, or a part of one. */

const MAX_PATH_CHARS = 1_000;
const EXTENSION = /\.(?:ya?ml|json)$/;
/** Git refuses these names where a file system could take them for `.git`. */
const GIT_FOLDER = /^(?:\.git|git~\d+)[. ]*$/i;

/** What is wrong with a path, in the form `must ...`; undefined when it is good. */
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
