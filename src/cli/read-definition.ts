/** Reads the text of a definition from a file or from standard input. */
import { createReadStream } from "node:fs";
import { extname, join } from "node:path";
import type { Readable } from "node:stream";
import { text as readAll } from "node:stream/consumers";
import type { Includes } from "../definition/include/included-files.ts";
import { LIMITS } from "../definition/schema/limits.ts";
import type { Format } from "../definition/text/read-text.ts";
import { UsageError } from "./command-line.ts";
import { readLocalIncludes } from "./local-includes.ts";

const STDIN = "-";
const REASONS: Readonly<Record<string, string>> = {
  EACCES: "you may not read it (EACCES)",
  EISDIR: "it is a folder; name its files",
  ENOENT: "there is no such file (ENOENT)",
};

export interface DefinitionText {
  /** The name for messages: the path as the user gave it, or `<stdin>`. */
  readonly file: string;
  readonly text: string;
  readonly format: Format;
  /** What it includes, read from the folder of its repository; absent for a definition that includes nothing. */
  readonly includes?: Includes | undefined;
}

/**
 * Reads `file`, or standard input for `-`. A file whose name ends in `.json` is JSON, every other file YAML; standard input
 * has `stdinFormat`. Reading stops soon after the bound of a definition, so that the validator can refuse a text that is too
 * large. With it come the files that it includes. Rejects with a UsageError for a file that cannot be read, and for a folder.
 */
export async function readDefinitionText(file: string, stdinFormat: Format = "yaml"): Promise<DefinitionText> {
  const isStdin = file === STDIN;
  const format = extname(file).toLowerCase() === ".json" ? "json" : "yaml";
  const definition = isStdin
    ? { file: "<stdin>", text: await read(process.stdin, "stdin"), format: stdinFormat }
    : ({ file, text: await read(createReadStream(file), file), format } as const);
  // A definition on standard input counts as one of the present folder.
  return { ...definition, includes: await readLocalIncludes(isStdin ? join(process.cwd(), "-") : file, definition) };
}

async function read(stream: Readable, name: string): Promise<string> {
  try {
    return await readAll(bounded(stream));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`cannot read ${name}: ${REASONS[code ?? ""] ?? code ?? message}`);
  }
}

async function* bounded(stream: Readable): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    yield chunk;
    bytes += chunk.length;
    if (bytes > LIMITS.textBytes) return;
  }
}
