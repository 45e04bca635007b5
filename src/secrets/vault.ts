/** The vault: the only place that turns values into stored secrets, and stored secrets into values for the steps that read them. */
import type { PipelineId } from "../domain/ids.ts";
import type { Clock } from "../domain/clock.ts";
import type { Seal, SealedSecret, SecretKey, SecretScope, SecretStore } from "../stores/ports/secrets.ts";
import type { KeyRing } from "./master-keys.ts";
import { ownKey, seal, unseal } from "./sealing.ts";

export interface VaultOptions {
  readonly store: SecretStore;
  readonly keys: KeyRing;
  readonly clock: Pick<Clock, "now">;
}

type Around<T> = (write: () => Promise<T>) => Promise<T>;
const orFalse = async <T>(write: () => Promise<T | undefined>): Promise<T | false> => (await write()) ?? false;
const direct = <T>(write: () => Promise<T>): Promise<T> => write();

export class SecretVault {
  readonly #options: VaultOptions;

  constructor(options: VaultOptions) {
    this.#options = options;
  }

  /**
   * Stores a new secret; "exists" when there is one of that key. `by` is the name of the caller. `around` calls the store,
   * which is asked for nothing else.
   */
  async create(
    key: SecretKey,
    value: string,
    by: string,
    around: Around<"created" | "exists"> = direct,
  ): Promise<SealedSecret | "exists"> {
    const { store, keys, clock } = this.#options;
    const now = clock.now();
    const { projectId, pipelineId, name } = key;
    const secret: SealedSecret = {
      projectId,
      pipelineId,
      name,
      ...seal(await keys.newest(), key, value),
      version: 1,
      createdAt: now,
      createdBy: by,
      updatedAt: now,
      updatedBy: by,
    };
    return (await around(() => store.create(secret))) === "created" ? secret : "exists";
  }

  /** Seals a secret of the installation itself, which the caller stores. `name` is unique among these. */
  async sealOwn(name: string, value: string): Promise<Seal> {
    return seal(await this.#options.keys.newest(), ownKey(name), value);
  }

  /** The value that {@link sealOwn} sealed. Rejects with an `UnreadableSecretError`. */
  openOwn(name: string, sealed: Seal): Promise<string> {
    return unseal(this.#options.keys, { ...ownKey(name), ...sealed });
  }

  /**
   * Stores a new value. `around` is as for {@link create}; it answers false, as this does, when there is no secret of that
   * key, or not with the version `expected`.
   */
  async replace(
    key: SecretKey,
    value: string,
    by: string,
    around: (write: () => Promise<SealedSecret | undefined>) => Promise<SealedSecret | false> = orFalse,
    expected?: number,
  ): Promise<SealedSecret | false> {
    const { store, keys, clock } = this.#options;
    const sealed = seal(await keys.newest(), key, value);
    return around(() => store.replace(key, { ...sealed, updatedAt: clock.now(), updatedBy: by }, expected));
  }

  /** The value of exactly this secret; undefined when it is not set. Rejects with an `UnreadableSecretError`. */
  async readOne(key: SecretKey): Promise<string | undefined> {
    const { store, keys } = this.#options;
    const found = await store.get(key);
    return found && unseal(keys, found);
  }

  /**
   * The values of these secrets, without those that are not set. A secret of the pipeline takes precedence over one of its project.
   * Rejects with an `UnreadableSecretError` when a secret that is set cannot be read.
   */
  async read(
    of: SecretScope & { readonly pipelineId: PipelineId },
    names: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const { store, keys } = this.#options;
    const found = await store.find(of, names);
    const ownLast = found.toSorted((one, other) => Number(one.pipelineId !== null) - Number(other.pipelineId !== null));
    const chosen = new Map(ownLast.map((secret) => [secret.name, secret]));
    const values = [...chosen.values()].map(async (secret) => [secret.name, await unseal(keys, secret)] as const);
    return new Map(await Promise.all(values));
  }
}
