/**
 * Records what an embedded store writes and syncs, and makes the files that a power loss may leave: everything that a
 * finished sync covers, and of what was written later any part.
 */
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

/** True when the store still has what was acknowledged. */
export type Acknowledged = (stores: Stores) => Promise<boolean>;

/** A moment at which the power may fail. */
interface Moment {
  /** Bytes of the log that a finished sync covers. */
  readonly durable: number;
  /** Bytes of the log that are written. */
  readonly written: number;
  /** How many acknowledgements were given. */
  readonly acknowledged: number;
}

/** What is left of the log: its first `length` bytes, with those of `hole` lost. */
export interface Remains {
  readonly length: number;
  readonly hole: readonly [from: number, to: number] | null;
  /** The acknowledgements that must hold. */
  readonly acknowledged: number;
}

const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4_096;

export class PowerLossRecord {
  readonly acknowledgements: { readonly what: string; readonly holds: Acknowledged }[] = [];
  readonly #path: string;
  readonly #moments: Moment[] = [];
  #durable = 0;
  #base: Buffer | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Opens the store and begins the record. `syncs` false: the store believes that it syncs, and the disk does not. The
   * workload stays so small that the log is never written back into the file.
   */
  async open(syncs = true): Promise<Stores> {
    const stores = await openSqliteStores({
      path: this.#path,
      sync: (_, done) => {
        const covered = this.#logBytes();
        this.#note();
        // Some turns of the event loop later, so that commits and reads come in between.
        const end = (turns: number): void => {
          if (turns > 0) return void setImmediate(end, turns - 1);
          if (syncs) this.#durable = covered;
          this.#note();
          done(null);
        };
        end(3);
      },
    });
    this.#base = readFileSync(this.#path);
    return stores;
  }

  /** A call was answered: from now on `holds` is promised. */
  acknowledge(what: string, holds: Acknowledged): void {
    this.acknowledgements.push({ what, holds });
    this.#note();
  }

  /** Every prefix of the log, also one that ends within a frame, and losses of one frame before later ones. */
  remains(): readonly Remains[] {
    if (!readFileSync(this.#path).equals(this.#base!)) throw new Error("the log was written back into the file");
    const all = this.#logBytes();
    const found: Remains[] = [];
    const required = (from: number, length: number): number =>
      this.#moments
        .filter(({ durable, written }) => durable <= from && length <= written)
        .reduce((most, { acknowledged }) => Math.max(most, acknowledged), 0);
    for (let end = 0; end <= all; end = end === 0 ? HEADER_BYTES : end + FRAME_BYTES) {
      found.push({ length: end, hole: null, acknowledged: required(end, end) });
      const torn = end + FRAME_BYTES / 2;
      if (end > 0 && torn <= all) found.push({ length: torn, hole: null, acknowledged: required(torn, torn) });
    }
    for (const { durable, written } of this.#moments) {
      // The first frame that no sync covers is lost, and all later ones are there.
      const hole = [durable, Math.min(durable + FRAME_BYTES, written)] as const;
      if (written - durable > FRAME_BYTES && durable > 0)
        found.push({ length: written, hole, acknowledged: required(durable, written) });
    }
    const unique = new Map(found.map((remains) => [JSON.stringify([remains.length, remains.hole]), remains]));
    return [...unique.values()];
  }

  /** Writes the files as they are after the power loss, and opens them. */
  async reopen(folder: string, { length, hole }: Remains): Promise<Stores> {
    const log = Buffer.from(readFileSync(`${this.#path}-wal`).subarray(0, length));
    if (hole !== null) log.fill(0, ...hole);
    await mkdir(folder, { recursive: true });
    const path = join(folder, "millrace.db");
    await writeFile(path, this.#base!);
    await writeFile(`${path}-wal`, log);
    return openSqliteStores({ path });
  }

  #note(): void {
    const { length } = this.acknowledgements;
    this.#moments.push({ durable: this.#durable, written: this.#logBytes(), acknowledged: length });
  }

  #logBytes(): number {
    return readFileSync(`${this.#path}-wal`).length;
  }
}
