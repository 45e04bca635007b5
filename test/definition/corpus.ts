/**
 * Definitions, good and bad, with what the validator says of each: `corpus/*.txt`.
 *
 * A case begins with `==== title`. Up to `----` follow what is expected, one line each: `error code line:column`,
 * `warning code line:column`, `schema accepts` (the JSON Schema does not see an error whose code it often sees),
 * `as json`, `with crlf`, `with bom`. Then comes the text. In it, `«3 × abc»` is `abcabcabc`.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Format } from "../../src/definition/text/read-text.ts";

export interface CorpusCase {
  readonly title: string;
  readonly format: Format;
  readonly text: string;
  /** `error code line:column`, by position; not told of `not-run-yet`, which is no part of the language. */
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
