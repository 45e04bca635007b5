/** Random expressions, valid and invalid. */
import fc from "fast-check";

export const CONTEXTS = ["trigger", "variables", "jobs"];

/** Parts of expressions in any order. */
export const tokenSoup: fc.Arbitrary<string> = fc
  .array(
    fc.constantFrom(
      ..."( ) [ ] . * ! && || == != < <= > >= , ' '' 'a' 'it''s' trigger trigger.ref variables jobs jobs.a.result".split(
        " ",
      ),
      ...'0 1 -1 .5 0x1f 1e9 NaN Infinity true false null - + = & | ${{ }} # " nowhere format( contains('.split(" "),
      ..."success() failure() always() cancelled() toJSON( fromJSON( fromJSON('[1]') join( startsWith('a','A')".split(
        " ",
      ),
      "\n",
      " ",
      "'a\n'",
      "nothing(",
      "constructor(",
      ".constructor",
      "['__proto__']",
    ),
    { maxLength: 16 },
  )
  .map((pieces) => pieces.join(" "));

const field = fc.constantFrom("a", "b", "ref-x", "true");
const literal = fc.oneof(
  fc.constantFrom("true", "false", "null", "0", "-0", "1", "-1.5", "1e+21", "NaN", "-Infinity", "''", "'a'", "'A b'"),
  fc.string().map((text) => `'${text.replaceAll("'", "''")}'`),
);

/** Valid expressions of every kind, with necessary and unnecessary parentheses. */
export const soundExpression: fc.Arbitrary<string> = fc.letrec<{ any: string; based: string }>((tie) => ({
  based: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(...CONTEXTS, "fromJSON('{\"a\":[1]}')"),
    tie("any").map((inner) => `(${inner})`),
    fc.tuple(tie("based"), field).map(([base, name]) => `${base}.${name}`),
    fc.tuple(tie("based"), tie("any")).map(([base, index]) => `${base}[ ${index} ]`),
    tie("based").map((base) => `${base}.*`),
    fc
      .tuple(fc.constantFrom("contains", "STARTSWITH", "endsWith"), tie("any"), tie("any"))
      .map(([name, one, other]) => `${name}(${one}, ${other})`),
    tie("any").map((inner) => `toJson(${inner})`),
  ),
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    literal,
    tie("based"),
    fc.constantFrom("success()", "failure()", "always()", "cancelled()"),
    tie("any").map((inner) => `!${inner}`),
    fc
      .tuple(tie("any"), fc.constantFrom("&&", "||", "==", "!=", "<", "<=", ">", ">="), tie("any"))
      .map(([left, operator, right]) => `${left} ${operator}${right}`),
    tie("any").map((inner) => `( ${inner})`),
  ),
})).any;
