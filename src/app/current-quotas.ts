/** The quotas that count now: those of the environment, with what settings say beside them. */
import type { Quotas, SetLimits } from "../domain/quotas.ts";
import type { DocumentOwner, OwnedDocument } from "../stores/ports/documents.ts";
import { type PolledOptions, PolledSettings } from "./polled-settings.ts";

/** `environment`: the quotas of the environment of this node. */
type Options = Pick<PolledOptions<Quotas>, "documents" | "log"> & { readonly environment: Quotas };

export class CurrentQuotas extends PolledSettings<Quotas> {
  constructor({ environment, ...options }: Options) {
    const derive = (documents: readonly OwnedDocument<"settings">[]) => quotasOf(environment, documents);
    super({ ...options, what: "the quotas", initial: environment, derive });
  }
}

function quotasOf(environment: Quotas, documents: readonly OwnedDocument<"settings">[]): Quotas {
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
