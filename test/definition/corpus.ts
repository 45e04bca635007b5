/**
 * Reads the corpus: good and bad definitions with the diagnostics of each, in `corpus/*.txt`.
 *
 * A case begins with `==== title`. The lines up to `----` say what is expected: `error code line:column`,
 * `warning code line:column`, or `schema accepts` (the JSON Schema misses an error of a code that it often finds). They can also
 * be `as json`, `with crlf` or `with bom`, which describe the text. The text follows `----`; in it, `«3 × abc»` is `abcabcabc`.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Format } from "../../src/definition/text/read-text.ts";

export interface CorpusCase {
  readonly title: string;
  readonly format: Format;
  readonly text: string;
  /** `error code line:column`, in the order of the text. */
  readonly expected: readonly string[];
  readonly schemaAccepts: boolean;
}

const FOLDER = new URL("corpus/", import.meta.url);
const WORDS = ["as json", "with crlf", "with bom", "schema accepts"];

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
  const written = rest.join("----\n").replace(/\n+$/, "\n");
  const text = written.replace(/«(\d+) × (.*?)»/gsu, (_, times, what) => String(what).repeat(Number(times)));
  const ends = lines.includes("with crlf") ? text.replaceAll("\n", "\r\n") : text;
  return {
    title: `${topic}: ${title}`,
    format: lines.includes("as json") ? "json" : "yaml",
    text: lines.includes("with bom") ? `\ufeff${ends}` : ends,
    expected: lines.filter((line) => !WORDS.includes(line)),
    schemaAccepts: lines.includes("schema accepts"),
  };
}
