/** Labels of agents, and the selectors of jobs. The board, the gateways and the dry run use the same matcher. */

export type Labels = Readonly<Record<string, string>>;

export interface AgentSelector {
  /** Each pair must be present with this value. */
  readonly matchLabels: readonly (readonly [key: string, value: string])[];
  /** Each expression must hold. */
  readonly matchExpressions: readonly LabelExpression[];
}

export interface LabelExpression {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Empty for `Exists` and `NotExists`; exactly one integer for `Gt` and `Lt`. */
  readonly values: readonly string[];
}

export const LABEL_OPERATORS = ["In", "NotIn", "Exists", "NotExists", "Gt", "Lt"] as const;
export type LabelOperator = (typeof LABEL_OPERATORS)[number];

export const ANY_AGENT: AgentSelector = { matchLabels: [], matchExpressions: [] };

/** True when an agent with `labels` may run a job with `selector`; an empty selector matches every agent. */
export function selectorMatches(selector: AgentSelector, labels: Labels): boolean {
  return failingClause(selector, labels) === undefined;
}

/**
 * The first clause of `selector` that `labels` do not meet, as text for people (`os In (linux)`); undefined when they
 * meet all.
 */
export function failingClause(selector: AgentSelector, labels: Labels): string | undefined {
  for (const label of selector.matchLabels) {
    const [key, value] = label;
    if (labels[key] !== value) return describeLabel(label);
  }
  for (const expression of selector.matchExpressions) {
    if (!expressionHolds(expression, labels)) return describeExpression(expression);
  }
  return undefined;
}

/** Every clause of `selector` as text for people; none for a selector that matches every agent. */
export function describeSelector({ matchLabels, matchExpressions }: AgentSelector): readonly string[] {
  return [...matchLabels.map(describeLabel), ...matchExpressions.map(describeExpression)];
}

function expressionHolds({ key, operator, values }: LabelExpression, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "NotExists":
      return value === undefined;
    case "Gt":
      return compareIntegers(value, values[0], (a, b) => a > b);
    case "Lt":
      return compareIntegers(value, values[0], (a, b) => a < b);
  }
}

function compareIntegers(
  left: string | undefined,
  right: string | undefined,
  holds: (a: number, b: number) => boolean,
): boolean {
  const isInteger = (text: string | undefined): text is string => text !== undefined && /^-?\d+$/.test(text);
  return isInteger(left) && isInteger(right) && holds(Number(left), Number(right));
}

function describeLabel([key, value]: AgentSelector["matchLabels"][number]): string {
  return `${key}=${value}`;
}

function describeExpression({ key, operator, values }: LabelExpression): string {
  return values.length === 0 ? `${key} ${operator}` : `${key} ${operator} (${values.join(", ")})`;
}
