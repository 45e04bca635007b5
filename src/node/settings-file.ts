/** Reads JSON files with settings that do not fit into variables. */
import { readFile } from "node:fs/promises";
import { problemsOf, problemText } from "../app/problems.ts";
import { MillraceError } from "../domain/errors.ts";

/** What reads a value, or tells its problems. */
interface Shape<T> {
  safeParse(
    value: unknown,
    options: { readonly reportInput: false },
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: Parameters<typeof problemsOf>[0] };
}

/**
 * The settings in the file that `variable` names. Rejects with `malformed_request`, naming the file and never a value,
 * when the file cannot be read or does not have the shape.
 */
export async function readSettingsFile<T>(path: string, variable: string, shape: Shape<T>): Promise<T> {
  let value: unknown;
  const text = await readTextFile(path, variable);
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the parser quotes the text, which may hold a secret.
    throw refusedFile(path, variable, "is not JSON");
  }
  const result = shape.safeParse(value, { reportInput: false });
  if (result.success) return result.data;
  const { problems } = problemsOf(result.error);
  throw refusedFile(path, variable, `has problems: ${problems.map(problemText).join("; ")}`);
}

export async function readTextFile(path: string, variable: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw refusedFile(path, variable, `cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
}

export function refusedFile(path: string, variable: string, why: string): MillraceError {
  return new MillraceError("malformed_request", `${path}, named by ${variable}, ${why}`);
}
