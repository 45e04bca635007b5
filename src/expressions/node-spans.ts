/** Finds the places of the nodes of an expression's tree in the text. The library keeps the places of some tokens only. */
import type { Expr } from "@actions/expressions";
import {
  Binary,
  ContextAccess,
  FunctionCall,
  Grouping,
  IndexAccess,
  Literal,
  Logical,
  Star,
  Unary,
} from "@actions/expressions/ast";
import { type Token, TokenType } from "@actions/expressions/lexer";

/** A range of a text; the offset counts from 0, both numbers in UTF-16 units. */
export interface TextSpan {
  readonly offset: number;
  readonly length: number;
}

export type NodeSpans = ReadonlyMap<Expr, TextSpan>;

/** The positions of the first and the last token of a node. */
type TokenRange = readonly [first: number, last: number];

/**
 * The places of the tokens of `source`, which begins at the offset `start` of the whole text. The columns that the lexer gives
 * are wrong after a string of several lines.
 */
export function spanTokens(tokens: readonly Token[], source: string, start: number): ReadonlyMap<Token, TextSpan> {
  const spans = new Map<Token, TextSpan>();
  let from = 0;
  for (const token of tokens) {
    const at = token.lexeme === "" ? source.length : source.indexOf(token.lexeme, from);
    spans.set(token, { offset: start + at, length: token.lexeme.length });
    from = at + token.lexeme.length;
  }
  return spans;
}

/** The place of every node of the tree, with its parentheses and brackets; `tokenSpans` has the tokens in the order of the text. */
export function spanNodes(tree: Expr, tokenSpans: ReadonlyMap<Token, TextSpan>): NodeSpans {
  const tokens = [...tokenSpans.keys()];
  const spans = [...tokenSpans.values()];
  const positions = new Map(tokens.map((token, index) => [token, index]));
  const nodeSpans = new Map<Expr, TextSpan>();

  const visit = (node: Expr): TokenRange => {
    const [first, last] = rangeOf(node);
    const from = spans[first]!.offset;
    nodeSpans.set(node, { offset: from, length: spans[last]!.offset + spans[last]!.length - from });
    return [first, last];
  };
  const rangeOf = (node: Expr): TokenRange => {
    if (node instanceof Literal) return single(node.token);
    if (node instanceof ContextAccess) return single(node.name);
    if (node instanceof Unary) return [positions.get(node.operator)!, visit(node.expr)[1]];
    if (node instanceof Binary) return [visit(node.left)[0], visit(node.right)[1]];
    if (node instanceof Logical) {
      const operands = node.args.map(visit);
      return [operands[0]![0], operands.at(-1)![1]];
    }
    if (node instanceof Grouping) {
      const [first, last] = visit(node.group);
      return [first - 1, last + 1];
    }
    if (node instanceof FunctionCall) {
      const name = positions.get(node.functionName)!;
      const end = node.args.map(visit).at(-1)?.[1] ?? name + 1;
      // There may be a comma after the last argument.
      return [name, tokens.findIndex(({ type }, index) => index > end && type === TokenType.RIGHT_PAREN)];
    }
    const access = node as IndexAccess;
    const [first, last] = visit(access.expr);
    const isDotted = tokens[last + 1]!.type === TokenType.DOT;
    const end = access.index instanceof Star ? last + 2 : visit(access.index)[1];
    return [first, isDotted ? end : end + 1];
  };
  const single = (token: Token): TokenRange => [positions.get(token)!, positions.get(token)!];
  visit(tree);
  return nodeSpans;
}
