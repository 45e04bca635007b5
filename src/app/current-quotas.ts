/** The quotas that count now: those of the environment, with what settings say beside them. */
import type { Quotas, SetLimits } from "../domain/quotas.ts";
import type { DocumentOwner } from "../stores/ports/documents.ts";
import type { PolledSettings, SettingDocuments } from "./polled-settings.ts";

/** `environment`: the quotas of the environment of this node. */
export function currentQuotas(settings: PolledSettings, environment: Quotas): () => Quotas {
  return settings.follow(environment, (documents) => quotasOf(environment, documents));
}

function quotasOf(environment: Quotas, documents: SettingDocuments): Quotas {
  const set = new Map<DocumentOwner, SetLimits>();
  let { labels } = environment;
  for (const { owner, body } of documents) {
    const { "quota.perProject": perProject, "quota.perTenant": perTenant, "quota.labels": ofLabels } = body.values;
    if (perProject !== undefined || perTenant !== undefined) set.set(owner, { perProject, perTenant });
    // As for every setting of the installation, what its environment gives comes first.
    if (owner === "installation" && ofLabels !== undefined && labels.length === 0) labels = ofLabels;
  }
  return { ...environment, labels, ...(set.size > 0 && { set }) };
}
