/**
 * Errors of YAML, in the words of people who write YAML: what is wrong, what YAML expects, how to mend it. Each error points
 * to the place that has to be changed.
 */
import { type Alias, type Document, isAlias, type LineCounter, type Node, visit, type YAMLError } from "yaml";
import { finding, type Finding } from "./finding.ts";
import { LIMITS } from "../schema/limits.ts";

/** The first error of each line: the library mostly reports one mistake several times on its line. */
export function findSyntaxErrors([first, second]: readonly Document.Parsed[], lines: LineCounter): readonly Finding[] {
  const byLine = new Map<number, YAMLError[]>();
  for (const error of [...first!.errors, ...first!.warnings].toSorted((one, other) => one.pos[0] - other.pos[0])) {
    const { line } = lines.linePos(error.pos[0]);
    const sameLine = byLine.get(line);
    if (sameLine === undefined) byLine.set(line, [error]);
    else sameLine.push(error);
  }
  const findings = [...byLine.values()].map((errors) => {
    const [error] = errors as [YAMLError];
    const { message, hint } = explain(errors);
    const [start, end] = message === UNCLOSED ? startOfText(first!, error.pos) : error.pos;
    return finding("syntax", message, start, end - start, hint);
  });
  if (second === undefined) return findings;
  const [start] = second.range;
  return [
    ...findings,
    finding("syntax", "a definition is one YAML document; a second one begins here", start, 0, SPLIT),
  ];
}

/** The value of a document without errors; a finding when its anchors give none. */
export function toPlain(document: Document.Parsed): { readonly value: unknown; readonly findings: readonly Finding[] } {
  try {
    return { value: document.toJS({ maxAliasCount: LIMITS.aliases }), findings: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { value: undefined, findings: [anchorProblem(document, message)] };
  }
}

interface Explanation {
  readonly message: string;
  readonly hint?: string;
}

const SPLIT = "remove the line `---` or `...`, or save each document as a definition of its own";
const UNCLOSED = "this text begins with a quote and has no closing quote";
const QUOTE_IT = "put the whole value in quotes";

/** The library reports both mistakes as one error; only the second one comes with an error of a key on several lines. */
const SECOND_VALUE: Explanation = {
  message: "YAML expects one `key: value` on a line; this value has a `: ` of its own",
  hint: "put the value in quotes if it is a text, or write it on the next line, indented, if it is a map",
};
const INDENTED_BELOW: Explanation = {
  message: "this value is on the line of its key, and indented keys follow below it; YAML expects only one of the two",
  hint: "indent the next line as this one, or remove this value if the keys below are the value",
};

/** By the library's code and the beginning of its message; the first that fits. */
const EXPLANATIONS: readonly (readonly [error: RegExp, message: string, hint?: string])[] = [
  [
    /^MISSING_CHAR Missing closing ["']quote/,
    UNCLOSED,
    "close it with the quote that it begins with, and indent all of its lines further than its key",
  ],
  [/^TAB_AS_INDENT/, "a tab indents this line; YAML expects spaces as indentation", "replace the tab with spaces"],
  [
    /^TAG_RESOLVE_FAILED/,
    "this tag (`!name`) is not known; YAML values need no tag here",
    "remove the tag, or put the value in quotes if it is a text that begins with `!`",
  ],
  [
    /^NON_STRING_KEY/,
    "a list or a map cannot be a key; YAML keys are texts here",
    "put the text in quotes if the brackets belong to it",
  ],
  [
    /^UNEXPECTED_TOKEN Unexpected block-seq-ind/,
    "YAML expects the first `- ` of a list on a line of its own, below the key",
    "move the list to the next line, or put the value in quotes if it is a text that begins with `- `",
  ],
  [
    /^\w+ Flow sequence/,
    "YAML expects a `]` before this: a list in brackets is not closed, or not indented further than its key",
    "close the list, or indent all of its lines further than its key",
  ],
  [
    /^\w+ Flow map/,
    "YAML expects a `}` before this: a map in braces is not closed, or not indented further than its key",
    "close the map, or indent all of its lines further than its key",
  ],
  [
    /^\w+ (?:A block sequence|All sequence items)/,
    "YAML expects all `- ` items of a list at the same indentation; this item has another",
    "indent this item as those above it",
  ],
  [
    /^\w+ Sequence item without/,
    "YAML expects each item of a list to begin with `- `; this line of a list does not",
    "add the `- `, or indent the line as the other keys of the item above it",
  ],
  [
    /^BAD_INDENT All mapping items/,
    "YAML expects all keys of a map at the same indentation; this line has another",
    "indent this line as the keys above it, or further if it belongs to the value above it",
  ],
  [
    /^MULTILINE_IMPLICIT_KEY/,
    "YAML expects a key and its `:` on one line; this key goes over several lines",
    "is a `:`, a comma or a closing quote missing, or the space after a `-`?",
  ],
  [
    /^\w+ Implicit map keys/,
    "YAML expects `key: value` on this line, and there is no `: `",
    "is the space after a `:` missing, or does the line belong to the value above it and is not indented?",
  ],
  [/^BAD_SCALAR_START/, "YAML expects a text that begins with this character in quotes", QUOTE_IT],
  [
    /^BAD_DQ_ESCAPE/,
    "YAML knows no such escape in double quotes",
    "double the backslash, or put the text in single quotes, in which a backslash is a character like any other",
  ],
  [
    /^BLOCK_IN_FLOW/,
    "YAML expects a comma between the entries within brackets; this value has a `: ` of its own",
    "add the comma, or put the value in quotes if it is a text",
  ],
  [
    /^\w+ Missing , (?:or : )?between/,
    "YAML expects a comma between the entries within brackets",
    "add the comma, or put the whole entry in quotes if it is one text",
  ],
  [/^\w+ Missing space after :/, "YAML expects a space after this `:`"],
  [
    /^\w+ Comments must/,
    "YAML expects a space before the `#` of a comment",
    "add the space, or put the whole value in quotes if the `#` belongs to a text",
  ],
  [
    /^\w+ Tags and anchors must be separated/,
    "YAML expects a space after an anchor (`&name`) and after a tag (`!name`)",
  ],
  [/^\w+ Anchors and tags must/, "YAML expects an anchor (`&name`) or a tag (`!name`) directly before its value"],
  [/^MULTIPLE_ANCHORS/, "YAML expects at most one anchor (`&name`) before a value", "remove one of the anchors"],
  [/^MULTIPLE_TAGS/, "YAML expects at most one tag (`!name`) before a value", "remove the tags"],
  [
    /^ALIAS_PROPS/,
    "YAML expects no anchor (`&name`) and no tag (`!name`) before a use of an anchor (`*name`)",
    "remove the anchor or the tag",
  ],
  [/^BAD_ALIAS \w+ ending in/, "YAML expects a space between the name of an anchor and a `:`", "add the space"],
  [
    /^BAD_ALIAS/,
    "YAML expects the name of an anchor after `&` and `*`",
    "put the value in quotes if it is a text that begins with `&` or `*`",
  ],
  [
    /^UNEXPECTED_TOKEN Unexpected flow-/,
    "this bracket closes nothing that is open",
    "remove it, or put the whole value in quotes if the bracket belongs to a text",
  ],
  [
    /^UNEXPECTED_TOKEN Unexpected (?:, in|empty item)/,
    "YAML expects an entry before each comma within brackets",
    "remove this comma, or put it in quotes if it belongs to a text",
  ],
  [
    /^UNEXPECTED_TOKEN Block scalar header/,
    "YAML expects the text of `|` and `>` to begin on the next line",
    "move the text to the next line, or put it in quotes",
  ],
  [
    /^UNEXPECTED_TOKEN Unexpected \S+ at node end/,
    "the value before this is complete; YAML expects nothing after it",
    "put all of the value in quotes (within single quotes, `''` stands for a quote), or is the indentation wrong?",
  ],
  [
    /^UNEXPECTED_TOKEN/,
    "YAML does not expect this here",
    "is a quote, a bracket or a `:` missing before it, or is the indentation wrong?",
  ],
  [
    /^MISSING_CHAR Block scalars with/,
    "YAML expects no spaces on the empty lines before the first line of a text",
    "remove the spaces from the empty lines above",
  ],
  [
    /^BAD_INDENT Block scalar/,
    "YAML expects the lines of a text of `|` and `>` indented at least as far as its first line, and further than its key",
    "indent all lines of the text",
  ],
  [
    /^KEY_OVER_1024_CHARS/,
    "YAML expects the `:` of a key within 1,024 characters; this key is longer",
    "shorten the key, or close a quote that is open",
  ],
  [
    /^BAD_DIRECTIVE/,
    "YAML does not know this directive (a line that begins with `%`)",
    "remove the line: a definition needs no directive",
  ],
  [
    /^MISSING_CHAR Missing directives-end/,
    "YAML expects a line `---` after directives (lines that begin with `%`)",
    "remove the directives: a definition needs none",
  ],
  [
    /^MISSING_CHAR Missing newline/,
    "YAML expects a map or a list to begin on the line after its anchor (`&name`) or tag (`!name`)",
    "begin a new line after it",
  ],
  [
    /^MISSING_CHAR Block collection cannot start/,
    "YAML expects a map or a list to begin on the line after `---`",
    "remove the `---`, or begin a new line after it",
  ],
];

/** `errors` are those of one line, by position; the first one is explained. */
function explain([error, ...others]: readonly YAMLError[]): Explanation {
  const { code, message: words } = error!;
  if (words.startsWith("Nested mappings")) {
    return others.some((other) => other.code === "MULTILINE_IMPLICIT_KEY") ? INDENTED_BELOW : SECOND_VALUE;
  }
  const found = EXPLANATIONS.find(([pattern]) => pattern.test(`${code} ${words}`));
  if (found === undefined) return { message: words[0]!.toLowerCase() + words.slice(1) };
  const [, message, hint] = found;
  return { message, ...(hint === undefined ? {} : { hint }) };
}

/** Where the text in quotes begins that ends at `end`: the library points to its end, and people look for the quote that opens it. */
function startOfText(document: Document.Parsed, [end, after]: readonly [number, number]): readonly [number, number] {
  let range: readonly [number, number] = [end, after];
  visit(document, {
    Scalar(_, { type, range: own }) {
      if (own?.[1] !== end || type?.startsWith("QUOTE") !== true) return undefined;
      range = [own[0], own[0] + 1];
      return visit.BREAK;
    },
  });
  return range;
}

const WRITE_OUT = "write the values out in place of the anchor";
const DEFINE = "define the anchor on a value above, or put this in quotes if it is a text that begins with `*`";

/** Which use of an anchor gives no value, found in one pass: resolving an alias searches the whole document. */
function anchorProblem(document: Document.Parsed, message: string): Finding {
  const isTooLarge = message.includes("Excessive alias count");
  const anchors = new Map<string, Node>();
  const nested = new Set<unknown>();
  let found: Alias | undefined;
  visit(document, {
    Node(_, node, parents) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node);
        return undefined;
      }
      const anchored = anchors.get(node.source);
      found = node;
      if (isTooLarge ? nested.has(anchored) : anchored === undefined) return visit.BREAK;
      for (const parent of parents) nested.add(parent);
      return undefined;
    },
  });
  const [start, end] = found?.range ?? [0, 0];
  return isTooLarge
    ? finding("alias-limit", "anchors within anchors make the definition too large", start, end - start, WRITE_OUT)
    : finding("syntax", `no anchor \`&${found?.source}\` is defined before this use of it`, start, end - start, DEFINE);
}
