/** The messages of syntax errors, in the terms of the language in place of those of the parser. */
import { ErrorType } from "@actions/expressions/errors";
import { type Token, TokenType } from "@actions/expressions/lexer";

/** The message of an error that the parser throws at `token`. */
export function syntaxMessage(type: ErrorType, token: Token): string {
  // The parser names the last token when an operand is missing, and the end when a sign or a name is missing.
  if (token.type === TokenType.EOF) return "this expression is not complete";
  if (type === ErrorType.ErrorUnexpectedEndOfExpression) return `this expression ends after \`${token.lexeme}\``;
  return BETWEEN_VALUES.has(token.type) ? `\`${token.lexeme}\` stands between two values` : symbolMessage(token.lexeme);
}

const BETWEEN_VALUES: ReadonlySet<TokenType> = new Set([
  TokenType.BANG_EQUAL,
  TokenType.EQUAL_EQUAL,
  TokenType.GREATER,
  TokenType.GREATER_EQUAL,
  TokenType.LESS,
  TokenType.LESS_EQUAL,
  TokenType.AND,
  TokenType.OR,
]);

/** The message of a symbol that cannot stand where it stands. */
export function symbolMessage(symbol: string): string {
  return SLIPS.get(symbol) ?? SLIPS.get(symbol[0]!) ?? `\`${symbol}\` cannot stand here`;
}

const NO_ARITHMETIC = "there is no arithmetic; join texts with `format('{0}{1}', a, b)`";

/** What to write in place of a symbol, by the whole symbol or by its first character. */
const SLIPS: ReadonlyMap<string, string> = new Map([
  ['"', "put a text in single quotes, not in double quotes"],
  ["`", "put a text in single quotes"],
  ["'", "this text has no closing quote"],
  ["=", "compare two values with `==`"],
  ["&", "join two conditions with `&&`"],
  ["and", "join two conditions with `&&`"],
  ["|", "join two conditions with `||`"],
  ["or", "join two conditions with `||`"],
  ["?", "write `condition && value || otherValue` for a choice"],
  ["${{", "this is within an expression already; leave out `${{` and `}}`"],
  ["-", NO_ARITHMETIC],
  ["+", NO_ARITHMETIC],
  ["*", NO_ARITHMETIC],
  ["/", NO_ARITHMETIC],
  ["%", NO_ARITHMETIC],
]);
