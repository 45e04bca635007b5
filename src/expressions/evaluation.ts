/** One evaluation with a bound on its work: without it, an expression of some hundred characters could read a payload for hours. */
import { data, Evaluator, type Expr } from "@actions/expressions";
import { Binary, type ContextAccess, type FunctionCall, IndexAccess, Literal, Star } from "@actions/expressions/ast";
import { FilteredArray } from "@actions/expressions/filtered_array";
import { type Token, TokenType } from "@actions/expressions/lexer";
import { EVALUATION_WORK, type WorkBudget } from "../domain/work/work-budget.ts";
import { ITEM_WORK, MAX_EVALUATION_WORK } from "./bounds.ts";
import { ExactDictionary, type PartialScope, toList, UNKNOWN_VALUE } from "./context-data.ts";
import {
  callFunction,
  type FunctionName,
  functionNamed,
  isStatusFunction,
  type PartialStatus,
  readingWork,
} from "./functions.ts";

/** The evaluation of all expressions of one text, or of all parts of one condition, which share `MAX_EVALUATION_WORK`. */
export class Evaluation {
  readonly contexts: ExactDictionary;
  readonly status: PartialStatus;
  readonly #budget: WorkBudget | undefined;
  readonly #limit: number;
  #work = 0;

  /** `budget` is charged for the work, too; `limit`: characters of work of this evaluation. */
  constructor(scope: PartialScope, status: PartialStatus = {}, budget?: WorkBudget, limit = MAX_EVALUATION_WORK) {
    this.contexts = new ExactDictionary(scope);
    this.status = status;
    this.#budget = budget;
    this.#limit = limit;
  }

  /**
   * The value of a tree. Throws what the functions throw, a RangeError beyond a bound, `WorkUsedUp` beyond the budget, and
   * `UNKNOWN_VALUE` when the value depends on a value that is not known yet.
   */
  valueOf(tree: Expr): data.ExpressionData {
    this.#budget?.charge(EVALUATION_WORK);
    return new BoundedEvaluator(tree, this).evaluate();
  }

  /** Subtracts `work` characters from the remaining work. Throws a RangeError, or `WorkUsedUp`, when none is left. */
  charge(work: number): void {
    this.#work += work;
    if (this.#work > this.#limit) {
      throw new RangeError(`its evaluation reads or makes more than ${this.#limit} characters`);
    }
    this.#budget?.charge(work);
  }
}

/** The library's evaluator, which gets the values of operands only after their size has been charged. */
class BoundedEvaluator extends Evaluator {
  readonly #evaluation: Evaluation;

  constructor(tree: Expr, evaluation: Evaluation) {
    super(tree, evaluation.contexts);
    this.#evaluation = evaluation;
  }

  override visitContextAccess(node: ContextAccess): data.ExpressionData {
    return this.#evaluation.contexts.get(node.name.lexeme) ?? new data.Null();
  }

  override visitBinary({ left, operator, right }: Binary): data.ExpressionData {
    return super.visitBinary(new Binary(this.#operand(left), operator, this.#operand(right)));
  }

  override visitIndexAccess({ expr, index }: IndexAccess): data.ExpressionData {
    let value = this.eval(expr);
    if (value instanceof FilteredArray) this.#evaluation.charge(value.values().length * ITEM_WORK);
    if (index instanceof Star && value.kind === data.Kind.Dictionary) value = toList(value.values());
    const result = super.visitIndexAccess(
      new IndexAccess(computed(value), index instanceof Star ? index : computed(this.eval(index))),
    );
    if (result instanceof FilteredArray) this.#evaluation.charge(result.values().length * ITEM_WORK);
    return result;
  }

  override visitFunctionCall({ functionName, args }: FunctionCall): data.ExpressionData {
    const name = functionNamed(functionName.lexeme);
    if (name !== undefined && isStatusFunction(name)) {
      const value = name === "always" ? true : this.#evaluation.status[name];
      if (value === undefined) throw UNKNOWN_VALUE;
      return new data.BooleanData(value);
    }
    const values = args.map((arg) => this.eval(arg));
    return callFunction(name as FunctionName, values, (work) => this.#evaluation.charge(work));
  }

  #operand(node: Expr): Literal {
    const value = this.eval(node);
    this.#evaluation.charge(readingWork([value]));
    return computed(value);
  }
}

const NO_TOKEN: Token = {
  type: TokenType.UNKNOWN,
  lexeme: "",
  range: { start: { line: 0, column: 0 }, end: { line: 0, column: 0 } },
};

function computed(value: data.ExpressionData): Literal {
  return new Literal(value, NO_TOKEN);
}
