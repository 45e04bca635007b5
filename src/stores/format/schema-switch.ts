/**
 * Which schema this node writes: its own as soon as every living node reads it, until then the one before. The schema
 * that may have been written is a setting in the store that only grows, and a node that reads less does not start.
 *
 * The two look at each other in opposite order, so that no old node slips in while the others switch: a node announces
 * itself and then reads the setting; one that switches raises the setting and then looks once more who is announced.
 */
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import type { ShardStore } from "../ports/shards.ts";

export interface SchemaSwitchOptions {
  /** The newest schema that this node reads. */
  readonly schema: number;
  /** The same of every living node, this one among them, which has announced itself. Rejects while nobody knows. */
  readonly readers: () => Promise<readonly number[]>;
  readonly shards: Pick<ShardStore, "raiseSetting">;
  readonly log: Logger;
  /** Overrides of the default timing, for tests. */
  readonly timing?: Partial<typeof TIMING>;
}

const SETTING = "STORED_SCHEMA";

const TIMING = {
  /** Between two looks at who lives, milliseconds. */
  lookMs: 1_000,
  /**
   * How long all must agree, milliseconds. A Redis that was emptied or restarted knows nobody: within this time every
   * living node has announced itself again.
   */
  agreedMs: 5_000,
};

export class SchemaSwitch {
  readonly #options: SchemaSwitchOptions;
  readonly #timing: typeof TIMING;
  #writes: number;
  #agreedSince: number | null = null;
  #looking: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: SchemaSwitchOptions, writes: number) {
    this.#options = options;
    this.#timing = { ...TIMING, ...options.timing };
    this.#writes = writes;
  }

  /**
   * Rejects with `conflict` and what to do when this version cannot work beside what is stored, or beside a living node.
   */
  static async join(options: SchemaSwitchOptions): Promise<SchemaSwitch> {
    const { schema, readers, shards } = options;
    // Nothing has been written yet: then there is nothing to wait for.
    const isFirst =
      (await shards.raiseSetting(SETTING, 0)) === 0 && agreedSince(schema, null, await readers(), 0) !== null;
    const stored = await shards.raiseSetting(SETTING, isFirst ? schema : 1);
    if (stored > schema) {
      throw new MillraceError(
        "conflict",
        `this deployment has been upgraded: it is stored with schema ${stored}, and this version of millrace reads up to ` +
          `${schema}: start the version that the other nodes run, or a newer one`,
      );
    }
    const least = Math.max(1, schema - 1);
    if (stored < least) {
      refuseFarBehind(await readers(), least);
      await shards.raiseSetting(SETTING, least);
      refuseFarBehind(await readers(), least);
    }
    // The setting alone would not do: whoever raised it may have met an old node then, and not have switched.
    const hasSwitched = stored === schema && agreedSince(schema, null, await readers(), 0) !== null;
    const self = new SchemaSwitch(options, hasSwitched ? schema : least);
    self.#schedule();
    return self;
  }

  /** The schema to write now; it never falls. */
  readonly writes = (): number => this.#writes;

  /** Idempotent; never rejects. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#looking;
  }

  #schedule(): void {
    if (this.#writes === this.#options.schema) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        if (this.#timer !== undefined) this.#schedule();
      });
    }, this.#timing.lookMs);
  }

  async #look(): Promise<void> {
    const { schema, readers, shards, log } = this.#options;
    try {
      const now = performance.now();
      this.#agreedSince = agreedSince(schema, this.#agreedSince, await readers(), now);
      if (this.#agreedSince === null || now - this.#agreedSince < this.#timing.agreedMs) return;
      await shards.raiseSetting(SETTING, schema);
      this.#agreedSince = agreedSince(schema, this.#agreedSince, await readers(), now);
      if (this.#agreedSince === null) return;
      this.#writes = schema;
      log.info({ schema }, "every node reads the new schema: this node writes it from now on");
    } catch (error) {
      this.#agreedSince = agreedSince(schema, this.#agreedSince, "unknown", 0);
      log.debug({ error: String(error) }, "who reads which schema is not known; the next look follows");
    }
  }
}

/**
 * Since when all `readers` have been known to read `schema`, or null: one does not, or they are not known. The former
 * answer is `since`; `now` is in monotonic milliseconds. Pure.
 */
export function agreedSince(
  schema: number,
  since: number | null,
  readers: readonly number[] | "unknown",
  now: number,
): number | null {
  if (readers === "unknown" || readers.length === 0 || readers.some((reader) => reader < schema)) return null;
  return since ?? now;
}

/** A node two schemas behind could not read what this one writes. */
function refuseFarBehind(readers: readonly number[], least: number): void {
  const oldest = Math.min(least, ...readers);
  if (oldest === least) return;
  throw new MillraceError(
    "conflict",
    `a node of this deployment reads schemas up to ${oldest}, and this version writes ${least} or newer: ` +
      "bring all nodes to the versions in between first, one after the other",
  );
}
