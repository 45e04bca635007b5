/**
 * Decides which schema this node writes: its own as soon as every living node reads it, and the schema before it until
 * then. A setting in the store holds the newest schema that may have been written. The setting only grows, and a node
 * that cannot read that schema does not start.
 *
 * Two orders make sure that no old node starts unnoticed while the others switch. A starting node announces itself and
 * then reads the setting. A switching node raises the setting and then checks once more which nodes are announced.
 */
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import type { ShardStore } from "../ports/shards.ts";

export interface SchemaSwitchOptions {
  /** The newest schema that this node reads. */
  readonly schema: number;
  /**
   * The newest schema that each living node reads. This node, which has announced itself, is among them. Rejects while
   * the living nodes are not known.
   */
  readonly readers: () => Promise<readonly number[]>;
  readonly shards: Pick<ShardStore, "raiseSetting">;
  readonly log: Logger;
  /** Overrides the default timing in tests. */
  readonly timing?: Partial<typeof TIMING>;
}

const SETTING = "STORED_SCHEMA";

const TIMING = {
  /** Time between two looks at the living nodes, milliseconds. */
  lookMs: 1_000,
  /**
   * How long all nodes must agree, milliseconds. A Redis that was emptied or restarted knows no node; within this time
   * every living node announces itself again.
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
   * Rejects with `conflict`, and says what to do, when this version cannot work with the stored data or beside a living
   * node.
   */
  static async join(options: SchemaSwitchOptions): Promise<SchemaSwitch> {
    const { schema, readers, shards } = options;
    // Nothing is stored yet, so the node may write its own schema at once.
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
    // The setting alone does not prove that the nodes have switched: the node that raised it may have found an old node
    // after that.
    const hasSwitched = stored === schema && agreedSince(schema, null, await readers(), 0) !== null;
    const self = new SchemaSwitch(options, hasSwitched ? schema : least);
    self.#schedule();
    return self;
  }

  /** The schema to write now; it never falls. */
  readonly writes = (): number => this.#writes;

  /** Ends the looks at the living nodes. Idempotent; never rejects. */
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
      log.debug(
        { error: String(error) },
        "the schemas that the living nodes read are not known; this node looks again soon",
      );
    }
  }
}

/**
 * Since when all `readers` are known to read `schema`; null when one of them does not, or when they are not known.
 * `since` is the previous answer; `now` is in monotonic milliseconds. Pure.
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

/** Throws `conflict` when a living node reads less than `least`: it could not read what this node writes. */
function refuseFarBehind(readers: readonly number[], least: number): void {
  const oldest = Math.min(least, ...readers);
  if (oldest === least) return;
  throw new MillraceError(
    "conflict",
    `a node of this deployment reads schemas up to ${oldest}, and this version writes ${least} or newer: ` +
      "bring all nodes to the versions in between first, one after the other",
  );
}
