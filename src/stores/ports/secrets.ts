/** Secrets as they are stored: sealed. What they hold is known to `src/secrets/` alone. */
import type { PipelineId, ProjectId } from "../../domain/ids.ts";
import type { Page } from "./aggregates.ts";

export interface SecretScope {
  readonly projectId: ProjectId;
  /** Null for what all pipelines of the project have. */
  readonly pipelineId: PipelineId | null;
}

/** What a secret is known by; there is one of each name in a scope. */
export interface SecretKey extends SecretScope {
  readonly name: string;
}

/** A value under a master key. */
export interface Seal {
  readonly keyId: string;
  /** Text; never the same twice, also for the same value. */
  readonly sealed: string;
}

export interface SealedSecret extends SecretKey, Seal {
  /** From 1; one more with each new value. */
  readonly version: number;
  readonly createdAt: number;
  /** Name of the authenticated caller. */
  readonly createdBy: string;
  readonly updatedAt: number;
  readonly updatedBy: string;
}

export type NewValue = Seal & Pick<SealedSecret, "updatedAt" | "updatedBy">;

export interface SecretStore {
  /** `exists`, and nothing is stored, when the scope has one of that name. */
  create(secret: SealedSecret): Promise<"created" | "exists">;
  /** Gives it a new value and the next version; answers it as it is then, undefined when it is not there. */
  replace(key: SecretKey, value: NewValue): Promise<SealedSecret | undefined>;
  /** Those of these names that the pipeline or its project has, in no certain order; of one name there may be both. */
  find(
    of: SecretScope & { readonly pipelineId: PipelineId },
    names: readonly string[],
  ): Promise<readonly SealedSecret[]>;
  /** Those of the scope itself, by name. */
  list(scope: SecretScope, page: { readonly page: number; readonly pageSize: number }): Promise<Page<SealedSecret>>;
  /** False when it was not there. */
  delete(key: SecretKey): Promise<boolean>;
  /** Removes all of the pipeline's own. */
  deleteOfPipeline(pipelineId: PipelineId): Promise<void>;

  /** Those that are not under this master key, in a fixed order from behind `after` on. */
  pageNotUnder(keyId: string, after: SecretKey | null, limit: number): Promise<readonly SealedSecret[]>;
  /** The same value under another key: neither version nor times change. False when it has a new value since, or is gone. */
  reseal(secret: SealedSecret, seal: Seal): Promise<boolean>;
}

/** One text for each secret, to which its value is bound. */
export function secretIdOf({ projectId, pipelineId, name }: SecretKey): string {
  return JSON.stringify([projectId, pipelineId, name]);
}
