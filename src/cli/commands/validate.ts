/** `millrace validate FILE...`: every problem of definitions, without a control plane. */
import type { Diagnostic } from "../../definition/text/diagnostics.ts";
import { parseDefinition } from "../../definition/parse.ts";
import type { Format } from "../../definition/text/read-text.ts";
import { UsageError } from "../command-line.ts";
import { countProblems, plural, renderDiagnostics } from "../diagnostics.ts";
import { EXIT } from "../exit-codes.ts";
import { type DefinitionText, readDefinitionText } from "../read-definition.ts";
import { paintFor } from "../screen.ts";

export interface ValidateOptions {
  /** The format of standard input. */
  readonly format?: Format;
  readonly json?: boolean;
}

interface Validated extends DefinitionText {
  readonly valid: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Resolves with 2 when a file cannot be read, else with 1 when a file has an error, else with 0; warnings do not fail. All
 * readable files are validated in any case. Diagnostics go to stdout, messages about unreadable files to stderr.
 */
export async function validate(files: readonly string[], { format, json }: ValidateOptions): Promise<number> {
  const validated: Validated[] = [];
  const paint = paintFor(process.stdout);
  for (const file of files) {
    const read = await readOrReport(file, format);
    if (read === undefined) continue;
    const { definition, diagnostics } = parseDefinition(read.text, read.format, { includes: read.includes });
    validated.push({ ...read, valid: definition !== undefined, diagnostics });
    if (json !== true) print(renderDiagnostics(read, diagnostics, paint));
  }
  const unread = files.length - validated.length;
  print([json === true ? toJson(validated) : summary(validated, unread)]);
  if (unread > 0) return EXIT.usage;
  return validated.every(({ valid }) => valid) ? EXIT.ok : EXIT.failure;
}

async function readOrReport(file: string, format: Format | undefined): Promise<DefinitionText | undefined> {
  try {
    return await readDefinitionText(file, format);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    return undefined;
  }
}

function toJson(validated: readonly Validated[]): string {
  const shown = validated.map(({ file, valid, diagnostics }) => ({ file, valid, diagnostics }));
  return JSON.stringify(shown, null, 2);
}

function summary(validated: readonly Validated[], unread: number): string {
  const counts = countProblems(validated.flatMap(({ diagnostics }) => diagnostics));
  const missing = unread === 0 ? "" : `; ${plural(unread, "file")} could not be read`;
  return `${plural(validated.length, "file")} checked: ${counts}${missing}`;
}

function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}
