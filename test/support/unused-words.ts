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

/** Finds a word of the list anywhere in a text. Most lines have none, so the words are not sought one by one. */
const ANY = new RegExp(WORDS.map(({ word }) => word).join("|"), "i");

const RULES = WORDS.map(({ word, instead, in: place, except }) => ({
  word,
  instead,
  said: place === undefined ? new RegExp(`\\b${word}\\b`, "i") : undefined,
  allowed: except === undefined ? undefined : new RegExp(except),
}));

/**
 * Each use of an unused word in a file, as `line: "word" (instead: ...)`. In a text that is not code, identifiers are
 * not checked.
 */
export function findUnusedWords(text: string, isCode: boolean): readonly string[] {
  const found: string[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    if (!ANY.test(line)) continue;
    const identifiers = isCode ? identifiersOf(line) : [];
    for (const { word, instead, said, allowed } of RULES) {
      const named = identifiers.some(({ name, words }) => words.includes(word) && allowed?.test(name) !== true);
      if (named || said?.test(line) === true) found.push(`${at + 1}: "${word}" (instead: ${instead})`);
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
