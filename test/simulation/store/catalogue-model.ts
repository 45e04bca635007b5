/** The pipelines, revisions and documents in the simulated store, as far as simulated parts read and write them. */
import type { PipelineId, RevisionId } from "../../../src/domain/ids.ts";
import type { AuditStore } from "../../../src/stores/ports/audit.ts";
import type { DocumentStore, OwnedDocument } from "../../../src/stores/ports/documents.ts";
import type { Pipeline, PipelineStore, Project, Revision } from "../../../src/stores/ports/pipelines.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import type { Call } from "../engine/service.ts";
import { compare } from "./compare.ts";

export class CatalogueData {
  readonly projects = new Map<string, Project>();
  readonly pipelines = new Map<PipelineId, Pipeline>();
  readonly revisions = new Map<RevisionId, Revision>();
  /** By kind and owner. */
  readonly documents = new Map<string, OwnedDocument>();
}

type CatalogueStores = Pick<Stores, "pipelines" | "documents" | "audit">;

type KnownPipelines = Pick<PipelineStore, "findProject" | "find" | "findToRun" | "list" | "named" | "findRevision">;

export function catalogueOf(data: CatalogueData, call: Call): CatalogueStores {
  const sorted = (matches: (pipeline: Pipeline) => boolean): readonly Pipeline[] =>
    [...data.pipelines.values()].filter(matches).toSorted((a, b) => compare(a.pipelineId, b.pipelineId));
  const pipelines: KnownPipelines = {
    findProject: (projectId) => call(`project ${projectId}`, () => data.projects.get(projectId)),
    find: (pipelineId) => call(`pipeline ${pipelineId}`, () => data.pipelines.get(pipelineId)),
    findToRun: (pipelineId) =>
      call(`pipeline ${pipelineId} to run`, () => {
        const pipeline = data.pipelines.get(pipelineId);
        return pipeline && { pipeline, isBeingDeleted: false };
      }),
    list: ({ projectId }, { page, pageSize }) =>
      call("pipelines", () => {
        const found = sorted((one) => (projectId ?? one.projectId) === one.projectId);
        const list = found.slice((page - 1) * pageSize, page * pageSize);
        return { list, total: found.length, totalIsExact: true };
      }),
    named: (name, limit) => call(`pipelines ${name}`, () => sorted((one) => one.name === name).slice(0, limit)),
    findRevision: (revisionId) => call(`revision ${revisionId}`, () => data.revisions.get(revisionId)),
  };
  // An engine without transactions stores an entry behind its change. Nothing in the simulation reads the entries.
  const audit: Pick<AuditStore, "append" | "appendWith"> = {
    append: () => call("audit entry", () => undefined),
    appendWith: async (_, write) => ({ result: await write(), stored: false }),
  };
  return {
    pipelines: pipelines as PipelineStore,
    audit: audit as AuditStore,
    documents: documentsOf(data, call),
  };
}

function documentsOf({ documents }: CatalogueData, call: Call): DocumentStore {
  const select = (matches: (document: OwnedDocument) => boolean): OwnedDocument[] =>
    [...documents.values()].filter(matches);
  const store: Pick<DocumentStore, "save" | "deleteOf"> & {
    readonly all: (...kinds: readonly string[]) => Promise<readonly OwnedDocument[]>;
    readonly find: (kind: string, owners: readonly string[]) => Promise<readonly OwnedDocument[]>;
  } = {
    all: (...kinds) => call(`all ${kinds.join(" ")}`, () => select(({ kind }) => kinds.includes(kind))),
    find: (kind, owners) =>
      call(`find ${kind}`, () => select((one) => one.kind === kind && owners.includes(one.owner))),
    save: (document) =>
      call(`save ${document.kind} of ${document.owner}`, () => {
        const key = `${document.kind} ${document.owner}`;
        if ((documents.get(key)?.version ?? 0) !== document.version - 1) return false;
        documents.set(key, document as unknown as OwnedDocument);
        return true;
      }),
    deleteOf: (owner) =>
      call(`delete documents of ${owner}`, () => {
        for (const [key, one] of documents) if (one.owner === owner) documents.delete(key);
      }),
  };
  return store as DocumentStore;
}
