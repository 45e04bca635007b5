/** What the library says of bad YAML, in words for people who do not know its grammar, and at the place that they must change. */
import { type Alias, type Document, isAlias, type LineCounter, type Node, visit, type YAMLError } from "yaml";
import { finding, type Finding } from "./finding.ts";
import { LIMITS } from "../schema/limits.ts";

/** One for each line: what follows on it is mostly told of the same slip. */
export function findSyntaxErrors([first, second]: readonly Document.Parsed[], lines: LineCounter): readonly Finding[] {
  const errors = [...first!.errors, ...first!.warnings].toSorted((one, other) => one.pos[0] - other.pos[0]);
  const lineOf = (error: YAMLError | undefined): number => (error === undefined ? 0 : lines.linePos(error.pos[0]).line);
  const findings = errors
    .filter((error, index) => lineOf(error) !== lineOf(errors[index - 1]))
    .map((error) => {
      const { words, hint } = explain(error);
      const [start, end] = words === UNCLOSED ? startOfText(first!, error.pos) : error.pos;
      return finding("syntax", words, start, end - start, hint);
    });
  if (second === undefined) return findings;
  return [...findings, finding("syntax", "a definition is one document; these are several", second.range[0])];
}

/** The value of a document without errors, or why there is none: its anchors. */
export function toPlain(document: Document.Parsed): { readonly value: unknown; readonly findings: readonly Finding[] } {
  try {
    return { value: document.toJS({ maxAliasCount: LIMITS.aliases }), findings: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { value: undefined, findings: [anchorProblem(document, message)] };
  }
}

interface Words {
  readonly words: string;
  readonly hint?: string;
}

const UNCLOSED = "this text has no closing quote";

/** By the library's code and the beginning of its message. */
const WORDS: readonly (readonly [code: RegExp, words: string, hint?: string])[] = [
  [/^MISSING_CHAR Missing closing ["']quote/, UNCLOSED],
  [/^TAB_AS_INDENT/, "tabs cannot indent: use spaces"],
  [/^TAG_RESOLVE_FAILED/, "tags other than those of JSON's types are not known here"],
  [/^NON_STRING_KEY/, "keys are texts: a list or a map cannot be one"],
  [
    /^\w+ Nested mappings/,
    "a value on the line of its key has no `: ` in it",
    "put it in quotes, or a map on lines of its own",
  ],
  [/^\w+ Flow sequence/, "a list before this has no `]`, or is indented less than its key"],
  [/^\w+ Flow map/, "a map before this has no `}`, or is indented less than its key"],
  [/^\w+ A block sequence/, "this item is not indented as the others of its list"],
  [/^\w+ Sequence item without/, "this stands in a list and has no `-`", "is it indented as the keys above it?"],
  [/^MULTILINE_IMPLICIT_KEY/, "this key goes over several lines", "is a `:` missing, or is the indentation wrong?"],
  [/^\w+ Implicit map keys/, "this stands where a key is expected, and has no `:`", "is the indentation right?"],
  [/^BAD_SCALAR_START/, "a text that begins with this character stands in quotes"],
  [/^BAD_DQ_ESCAPE/, "there is no such escape in double quotes", "use single quotes, or double the backslash"],
  [/^UNEXPECTED_TOKEN/, "this is not expected here", "is a quote, a bracket or a `:` missing before it?"],
];

function explain({ code, message }: YAMLError): Words {
  const found = WORDS.find(([pattern]) => pattern.test(`${code} ${message}`));
  if (found === undefined) return { words: message[0]!.toLowerCase() + message.slice(1) };
  const [, words, hint] = found;
  return { words, ...(hint === undefined ? {} : { hint }) };
}

/** The library points to where the text ends; what is missing is missing at its quote. */
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

/** In one pass: to resolve each use of an anchor would search the document for every one. */
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
    ? finding("alias-limit", "anchors that use anchors grow too large", start, end - start, "write the values out")
    : finding("syntax", `there is no anchor \`&${found?.source}\` before this`, start, end - start);
}
