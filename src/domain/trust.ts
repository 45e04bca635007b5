/** Trust in agents: which labels of an agent count, and which jobs of a project need an agent that an operator has labelled. Pure. */
import { type AgentSelector, demandTrust, type LabelledAgent, type Labels } from "./labels.ts";

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
}

/** The agent as selectors see it: where both name a key, the operator's value counts. */
export function labelledAgent({ labels, trustedLabels }: GivenLabels): LabelledAgent {
  const trusted = Object.keys(trustedLabels ?? {}).toSorted();
  return trusted.length === 0 ? { labels } : { labels: { ...labels, ...trustedLabels }, trusted };
}

/** The labels that the agent tells and that do not count, because an operator has given another value. */
export function overruledLabels({ labels, trustedLabels = {} }: GivenLabels): Labels {
  return Object.fromEntries(
    Object.entries(labels).filter(([key, value]) => Object.hasOwn(trustedLabels, key) && trustedLabels[key] !== value),
  );
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
