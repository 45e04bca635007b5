/**
 * Finds words that this project does not use (`scripts/unused-words.json`) in identifiers, comments, messages and docs.
 */
import { readFileSync } from "node:fs";

interface UnusedWord {
  /** One word or several, in lower case. */
  readonly word: string;
  /** A hint for the author: what to write instead. */
  readonly instead: string;
  /** Where the word is refused; everywhere when absent. */
  readonly in?: "identifiers";
  /** A regular expression: identifiers that match it are allowed. */
  readonly except?: string;
}

const LIST = new URL("../../scripts/unused-words.json", import.meta.url);
const WORDS = JSON.parse(readFileSync(LIST, "utf8")) as readonly UnusedWord[];

/**
 * Each use of an unused word in a file, as `line: "word" (instead: ...)`. In a text that is not code, identifiers are
 * not checked.
 */
export function findUnusedWords(text: string, isCode: boolean): readonly string[] {
  const found: string[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    const identifiers = isCode ? identifiersOf(line) : [];
    for (const { word, instead, in: place, except } of WORDS) {
      const named = identifiers.some(
        ({ name, words }) => words.includes(word) && (except === undefined || !new RegExp(except).test(name)),
      );
      const said = place === undefined && new RegExp(`\\b${word}\\b`, "i").test(line);
      if (named || said) found.push(`${at + 1}: "${word}" (instead: ${instead})`);
    }
  }
  return found;
}

/** The identifiers of a line, without those in comments and plain strings. Each comes with its words in lower case. */
function identifiersOf(line: string): readonly { readonly name: string; readonly words: readonly string[] }[] {
  if (/^\s*(?:\*|\/\*|\/\/)/.test(line)) return [];
  const code = line
    .replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""')
    // Of a template, only the expressions in `${}` are code.
    .replaceAll(/`(?:[^`\\]|\\.)*`/g, (template) =>
      [...template.matchAll(/\$\{([^}]*)\}/g)].map(([, code]) => code).join(" "),
    )
    .replace(/\/\/.*$/, "");
  return [...code.matchAll(/[A-Za-z_$][\w$]*/g)].map(([name]) => ({
    name,
    words: name
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .split(/[ _$]+/),
  }));
}
