/**
 * The port of secrets, which are stored sealed (encrypted). Only `src/secrets/` opens them. Times are Unix
 * milliseconds.
 */
import type { PipelineId, ProjectId } from "../../domain/ids.ts";
import type { Page, PlacedPageRequest } from "./pages.ts";

export interface SecretScope {
  readonly projectId: ProjectId;
  /** Null for a secret that all pipelines of the project share. */
  readonly pipelineId: PipelineId | null;
}

/** The key of a secret. A name is unique within its scope. */
export interface SecretKey extends SecretScope {
  readonly name: string;
}

/** A value, encrypted under a master key. */
export interface Seal {
  readonly keyId: string;
  /** Text. Sealing the same value again gives another text. */
  readonly sealed: string;
}

export interface SealedSecret extends SecretKey, Seal {
  /** From 1; grows by one with each new value. */
  readonly version: number;
  readonly createdAt: number;
  /** Name of the authenticated caller. */
  readonly createdBy: string;
  readonly updatedAt: number;
  readonly updatedBy: string;
}

export type NewValue = Seal & Pick<SealedSecret, "updatedAt" | "updatedBy">;

export interface SecretStore {
  /** Answers `exists`, and stores nothing, when the scope has a secret of that name. */
  create(secret: SealedSecret): Promise<"created" | "exists">;
  /**
   * Stores a new value with the next version, and answers the secret as it is then. Undefined, and nothing is stored, when
   * it is missing, or has not the version `expected`.
   */
  replace(key: SecretKey, value: NewValue, expected?: number): Promise<SealedSecret | undefined>;
  get(key: SecretKey): Promise<SealedSecret | undefined>;
  /**
   * The secrets of these names that the pipeline or its project has, in no particular order. A name may come twice,
   * once from each scope.
   */
  find(
    of: SecretScope & { readonly pipelineId: PipelineId },
    names: readonly string[],
  ): Promise<readonly SealedSecret[]>;
  /** The secrets of exactly this scope, by name, which is the id of a place. */
  list(scope: SecretScope, page: Omit<PlacedPageRequest, "descending">): Promise<Page<SealedSecret>>;
  /** Removes a secret. False when it was missing. */
  delete(key: SecretKey): Promise<boolean>;
  /** Removes the pipeline's own secrets; those of its project stay. */
  deleteOfPipeline(pipelineId: PipelineId): Promise<void>;
  /** Removes the secrets of the project and of its pipelines. */
  deleteOfProject(projectId: ProjectId): Promise<void>;

  /** Secrets that are sealed under another master key than this one, in a fixed order, after `after`. */
  pageNotUnder(keyId: string, after: SecretKey | null, limit: number): Promise<readonly SealedSecret[]>;
  /**
   * Stores the same value under another master key; the version and the times stay. False when the secret has another
   * value than `secret` holds, or is missing.
   */
  reseal(secret: SealedSecret, seal: Seal): Promise<boolean>;
}

/**
 * A text that is unique for each secret. Its seal is bound to this text, so the sealed value of one secret cannot stand
 * for another's.
 */
export function secretIdOf({ projectId, pipelineId, name }: SecretKey): string {
  return JSON.stringify([projectId, pipelineId, name]);
}
