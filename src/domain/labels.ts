/**
 * Labels and reaches of agents, and the selectors of jobs: which labels count, and which jobs of a project need an agent that an
 * operator has labelled. The board, the gateways and the dry run use the same matcher. Pure.
 */
import { ENGINE_LABEL, ISOLATION_LABEL } from "./containers/containers.ts";
import type { ProjectId, TenantId } from "./ids.ts";

export type Labels = Readonly<Record<string, string>>;

/** Reads `key=value` pairs that are separated by commas. Undefined for another text, and for a key with two values. */
export function parseLabels(text: string): Labels | undefined {
  const entries = new Map<string, string>();
  for (const pair of text.split(",")) {
    const at = pair.indexOf("=");
    const key = pair.slice(0, at).trim();
    const value = pair.slice(at + 1).trim();
    if (at < 1 || key === "" || (entries.get(key) ?? value) !== value) return undefined;
    entries.set(key, value);
  }
  return Object.fromEntries(entries);
}

/** An agent without a reach belongs to the installation: it may get jobs of every project. */
export interface AgentReach {
  readonly tenantId: TenantId;
  /** Null for every project of the tenant. */
  readonly projectIds: readonly ProjectId[] | null;
}

/** A project as reaches see it. `tenantId` is null where the tenant is not known: only a reach that names the project has it. */
export interface ReachedProject {
  readonly projectId: ProjectId;
  readonly tenantId?: TenantId | null;
}

/** True when the agent may get jobs of the project, as far as its reach tells. */
export function isReached(
  reach: AgentReach | null | undefined,
  { projectId, tenantId = null }: ReachedProject,
): boolean {
  if (reach === null || reach === undefined) return true;
  if (reach.projectIds !== null) return reach.projectIds.includes(projectId);
  return tenantId === reach.tenantId;
}

/** An agent as selectors see it. */
export interface LabelledAgent {
  readonly labels: Labels;
  /** Keys of the labels that an operator has given; the agent itself tells the others. Absent: none. */
  readonly trusted?: readonly string[];
  /** Which jobs the agent may get; absent for those of every project. */
  readonly reach?: AgentReach;
}

export interface AgentSelector {
  /** True: the agent must tell a container engine, whatever an operator has given. Else absent. */
  readonly engine?: true;
  /** True: every step of the job that runs a program has a container, so it may run on agents that demand them. Else absent. */
  readonly contained?: true;
  /** Each pair must be present with this value. */
  readonly matchLabels: readonly (readonly [key: string, value: string])[];
  /** Each expression must hold. */
  readonly matchExpressions: readonly LabelExpression[];
  /** True: only labels that an operator has given count, and an agent without any does not match. Else absent. */
  readonly trusted?: true;
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

/** A part of a selector that an agent does not meet; {@link describeFailed} makes its text. */
export type FailedClause = AgentSelector["matchLabels"][number] | LabelExpression | string;

/** True when the agent may run a job with `selector`; an empty selector matches every agent. */
export function selectorMatches(selector: AgentSelector, agent: LabelledAgent): boolean {
  return firstFailed(selector, agent) === undefined;
}

/** The first clause of `selector` that the agent does not meet; undefined when it meets all. */
export function firstFailed(selector: AgentSelector, agent: LabelledAgent): FailedClause | undefined {
  return failedOf(selector, agent, true)[0];
}

/** The clause as text for people: `os In (linux)`. */
export function describeFailed(selector: AgentSelector, clause: FailedClause): string {
  if (typeof clause === "string") return clause;
  return wordsFor(selector) + ("key" in clause ? describeExpression(clause) : describeLabel(clause));
}

/**
 * The first clause of `selector` that the agent does not meet, as text for people (`os In (linux)`); undefined when it
 * meets all.
 */
export function failingClause(selector: AgentSelector, agent: LabelledAgent): string | undefined {
  const failed = firstFailed(selector, agent);
  return failed && describeFailed(selector, failed);
}

/** All clauses of `selector` that the agent does not meet. An agent without a trusted label is not asked for any in particular. */
export function failingClauses(selector: AgentSelector, agent: LabelledAgent): readonly string[] {
  return failedOf(selector, agent, false).map((clause) => describeFailed(selector, clause));
}

/** No text is made here: thousands of agents are compared with hundreds of selectors. */
function failedOf(selector: AgentSelector, agent: LabelledAgent, isOneEnough: boolean): readonly FailedClause[] {
  const failed: FailedClause[] = [];
  if (selector.engine === true && !Object.hasOwn(agent.labels, ENGINE_LABEL)) failed.push(ANY_ENGINE);
  if (selector.contained !== true && agent.labels[ISOLATION_LABEL] === "container") failed.push(OTHER_ISOLATION);
  const labels = selector.trusted === true ? trustedLabelsOf(agent) : agent.labels;
  if (selector.trusted === true && Object.keys(labels).length === 0) return [...failed, ANY_TRUSTED];
  for (const label of selector.matchLabels) {
    if (isOneEnough && failed.length > 0) return failed;
    if (labels[label[0]] !== label[1]) failed.push(label);
  }
  for (const expression of selector.matchExpressions) {
    if (isOneEnough && failed.length > 0) return failed;
    if (!expressionHolds(expression, labels)) failed.push(expression);
  }
  return failed;
}

/** Every clause of `selector` as text for people; none for a selector that matches every agent. */
export function describeSelector(selector: AgentSelector): readonly string[] {
  const { matchLabels, matchExpressions, trusted } = selector;
  const clauses = [...matchLabels.map(describeLabel), ...matchExpressions.map(describeExpression)];
  const engine = selector.engine === true ? [ANY_ENGINE] : [];
  if (clauses.length === 0 && trusted === true) return [...engine, ANY_TRUSTED];
  return [...engine, ...clauses.map((clause) => wordsFor(selector) + clause)];
}

/** The same selector, which only labels meet that an operator has given. */
export function demandTrust(selector: AgentSelector): AgentSelector {
  return { ...selector, trusted: true };
}

/** The labels of the agent that an operator has given. */
export function trustedLabelsOf({ labels, trusted = [] }: LabelledAgent): Labels {
  return Object.fromEntries(trusted.flatMap((key) => (Object.hasOwn(labels, key) ? [[key, labels[key]!]] : [])));
}

/** The clause of a selector that asks for a container engine. */
const ANY_ENGINE = `${ENGINE_LABEL} Exists`;

/** The clause of a selector whose job has steps without a container. */
const OTHER_ISOLATION = `${ISOLATION_LABEL} NotIn (container)`;

/** The clause of a selector that asks for trusted labels and for none in particular. */
const ANY_TRUSTED = "a trusted label";

function wordsFor({ trusted }: AgentSelector): string {
  return trusted === true ? "trusted " : "";
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

/** Which jobs of a project run only on agents that they match by trusted labels, whatever their selectors say. */
export interface TrustDemand {
  /** Jobs of which a step gets a secret. */
  readonly secrets: boolean;
  /** Jobs with a protected target. */
  readonly protectedTargets: boolean;
}

export const NO_TRUST_DEMAND: TrustDemand = { secrets: false, protectedTargets: false };

/** The labels that an agent tells, and those that an operator has given it. */
interface GivenLabels {
  readonly labels: Labels;
  readonly trustedLabels?: Labels;
  readonly reach?: AgentReach | null;
}

/** The agent as selectors see it: where both name a key, the operator's value counts. */
export function labelledAgent({ labels, trustedLabels, reach = null }: GivenLabels): LabelledAgent {
  const trusted = Object.keys(trustedLabels ?? {}).toSorted();
  const bound = reach === null ? {} : { reach };
  return trusted.length === 0 ? { labels, ...bound } : { labels: { ...labels, ...trustedLabels }, trusted, ...bound };
}

/** The labels that the agent tells and that do not count, because an operator has given another value. */
export function overruledLabels({ labels, trustedLabels = {} }: GivenLabels): Labels {
  return Object.fromEntries(
    Object.entries(labels).filter(([key, value]) => Object.hasOwn(trustedLabels, key) && trustedLabels[key] !== value),
  );
}

/** The selector of a job by its containers: whether it has any, and whether all its programs run in one. */
export function selectorOfContainers(
  selector: AgentSelector,
  { hasContainers, isContained }: { readonly hasContainers: boolean; readonly isContained: boolean },
): AgentSelector {
  // Cells of a matrix share their selector.
  if (!hasContainers && !isContained) return selector;
  return {
    ...selector,
    ...(hasContainers ? { engine: true } : {}),
    ...(isContained ? { contained: true } : {}),
  };
}

/** The selector of a job under the demand of its project. */
export function selectorUnder(
  demand: TrustDemand,
  selector: AgentSelector,
  job: { readonly hasSecrets: boolean; readonly hasProtectedTarget: boolean },
): AgentSelector {
  const isDemanded = (demand.secrets && job.hasSecrets) || (demand.protectedTargets && job.hasProtectedTarget);
  return isDemanded ? demandTrust(selector) : selector;
}
