/** The settings of issuers whose identity tokens let agents register, as an operator writes them in the file that `MILLRACE_WORKLOAD_ISSUERS_FILE` names. */
import { z } from "zod";
import { asId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import { agentLabels } from "../agent-labels.ts";
import { issuerAddress } from "./provider-settings.ts";

/** Stands for this installation as the issuer of identity tokens of jobs. */
export const SELF = "self";

const scalar = z.union([z.string().min(1).max(1_000), z.number(), z.boolean()]);
/** A value or values that a claim may have; a map for a claim that is a map itself. In a text, `*` stands for any text. */
export type ClaimRule =
  | z.output<typeof scalar>
  | readonly z.output<typeof scalar>[]
  | { readonly [name: string]: ClaimRule };

const claimRule: z.ZodType<ClaimRule> = z.lazy(() =>
  z.union([scalar, z.array(scalar).min(1).max(100), z.record(z.string(), claimRule)]),
);

const reach = z
  .strictObject({
    tenantId: z.string().min(1).max(64),
    /** Absent for every project of the tenant. */
    projectIds: z.array(z.string().min(1).max(64)).min(1).max(100).optional(),
  })
  .transform(({ tenantId, projectIds }) => ({
    tenantId: asId<TenantId>(tenantId),
    projectIds: projectIds?.map((one) => asId<ProjectId>(one)) ?? null,
  }));

const issuer = z.strictObject({
  /** For the audit log, and as who has set the labels. */
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "must have 1 to 32 small letters, digits or -"),
  issuer: z.union([z.literal(SELF), issuerAddress]),
  /** The audience that tokens must be made for. */
  audience: z.string().min(1).max(1_000),
  /** A public issuer makes tokens for everybody: without a rule all of them would count. */
  claims: z.record(z.string(), claimRule).refine((rules) => Object.keys(rules).length > 0, "must name a claim"),
  /** Trusted labels of the agents that register with such a token. */
  labels: agentLabels.default({}),
  /** Which jobs these agents may get; absent for agents of the installation. */
  reach: reach.optional(),
  /** By how much the clock of the issuer may differ. */
  clockToleranceSeconds: z.int().min(0).max(600).default(30),
});

export const workloadFile = z
  .strictObject({ issuers: z.array(issuer).max(50) })
  .refine(({ issuers }) => new Set(issuers.map(({ id }) => id)).size === issuers.length, {
    path: ["issuers"],
    message: "must have different ids",
  });

export type WorkloadIssuerSettings = z.output<typeof issuer>;

/** True when the claims of a token are as the rules say. Of a claim that is a list, one element has to be. */
export function claimsMatch(
  rules: { readonly [name: string]: ClaimRule },
  claims: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(rules).every(([name, rule]) => {
    const claim = Object.hasOwn(claims, name) ? claims[name] : undefined;
    return Array.isArray(claim) ? claim.some((one) => claimMatches(rule, one)) : claimMatches(rule, claim);
  });
}

function claimMatches(rule: ClaimRule, claim: unknown): boolean {
  if (typeof rule === "string") return typeof claim === "string" && patternMatches(rule, claim);
  if (typeof rule !== "object") return claim === rule;
  if (isList(rule)) return rule.some((one) => claimMatches(one, claim));
  return typeof claim === "object" && claim !== null && claimsMatch(rule, claim as Record<string, unknown>);
}

function isList(rule: object): rule is readonly (string | number | boolean)[] {
  return Array.isArray(rule);
}

/** Takes time in proportion to the text for each `*`, whatever the pattern. */
function patternMatches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
