/**
 * Reads the corpus: good and bad definitions with the diagnostics of each, in `corpus/*.txt`.
 *
 * A case begins with `==== title`. The lines up to `----` say what is expected: `error code line:column`,
 * `warning code line:column`, or `schema accepts` (the JSON Schema misses an error of a code that it often finds). They can also
 * be `as json`, `with crlf` or `with bom`, which describe the text. The text follows `----`; in it, `«3 × abc»` is `abcabcabc`.
 * Files that the definition may include follow `---- path`, and `in a repository` gives it one without files. A diagnostic of an
 * included file has its path before the line.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Includes } from "../../src/definition/include/included-files.ts";
import type { Format } from "../../src/definition/text/read-text.ts";

export interface CorpusCase {
  readonly title: string;
  readonly format: Format;
  readonly text: string;
  /** Undefined for a definition in no repository. */
  readonly includes: Includes | undefined;
  /** `error code line:column`, in the order of the text. */
  readonly expected: readonly string[];
  readonly schemaAccepts: boolean;
}

const FOLDER = new URL("corpus/", import.meta.url);
const WORDS = ["as json", "with crlf", "with bom", "in a repository", "schema accepts"];

export function readCorpus(): readonly CorpusCase[] {
  return readdirSync(FOLDER)
    .toSorted()
    .flatMap((file) =>
      readFileSync(new URL(file, FOLDER), "utf8")
        .split(/^==== /m)
        .slice(1)
        .map((part) => toCase(file.replace(/\.txt$/, ""), part)),
    );
}

function toCase(topic: string, part: string): CorpusCase {
  const [head = "", ...rest] = part.split(/^----\n/m);
  const [title = "", ...lines] = head.trimEnd().split("\n");
  const [own = "", ...files] = rest.join("----\n").split(/^---- (?=\S+\n)/m);
  const written = own.replace(/\n+$/, "\n");
  const text = written.replace(/«(\d+) × (.*?)»/gsu, (_, times, what) => String(what).repeat(Number(times)));
  const ends = lines.includes("with crlf") ? text.replaceAll("\n", "\r\n") : text;
  return {
    title: `${topic}: ${title}`,
    format: lines.includes("as json") ? "json" : "yaml",
    text: lines.includes("with bom") ? `\ufeff${ends}` : ends,
    includes:
      files.length > 0 || lines.includes("in a repository")
        ? { path: "pipeline.yaml", files: files.map(toFile) }
        : undefined,
    expected: lines.filter((line) => !WORDS.includes(line)),
    schemaAccepts: lines.includes("schema accepts"),
  };
}

function toFile(part: string): { readonly path: string; readonly text: string } {
  const [path = "", ...lines] = part.split("\n");
  return { path, text: lines.join("\n").replace(/\n+$/, "\n") };
}
