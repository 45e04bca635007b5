/**
 * Bounds the work on repositories that a process does at once: one piece for each mirror, some for each owner, and some in
 * all. So a slow server of one owner does not hold up the work of others.
 */
import { Holds } from "../domain/work/holds.ts";
import { GitFault } from "./git-fault.ts";

export interface WorkBounds {
  readonly atOnce: number;
  readonly atOncePerOwner: number;
  /** Pieces of work that may wait. */
  readonly waiting: number;
  /** How long one may wait. */
  readonly waitMs: number;
}

interface Waiting {
  readonly owner: string;
  readonly mirror: string;
  begin(): void;
}

export class TurnsOfWork {
  readonly #bounds: WorkBounds;
  readonly #busyMirrors = new Set<string>();
  /** By owner. */
  readonly #running = new Holds();
  #total = 0;
  /** In the order of their calls. */
  readonly #queue = new Set<Waiting>();

  constructor(bounds: WorkBounds) {
    this.#bounds = bounds;
  }

  /** Rejects as the work does, and with `busy` when too much waits, or when it has waited for too long. */
  async take<T>(owner: string, mirror: string, work: () => Promise<T>): Promise<T> {
    const leave = await this.#enter(owner, mirror);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Resolves when the work may begin; the answer ends it. */
  #enter(owner: string, mirror: string): Promise<() => void> {
    if (this.#isFree({ owner, mirror })) return Promise.resolve(this.#begin(owner, mirror));
    const { waiting, waitMs } = this.#bounds;
    if (this.#queue.size >= waiting) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#queue.delete(entry);
        reject(busy());
      }, waitMs);
      const entry: Waiting = {
        owner,
        mirror,
        begin: () => {
          clearTimeout(timer);
          this.#queue.delete(entry);
          resolve(this.#begin(owner, mirror));
        },
      };
      this.#queue.add(entry);
    });
  }

  #isFree({ owner, mirror }: Pick<Waiting, "owner" | "mirror">): boolean {
    const { atOnce, atOncePerOwner } = this.#bounds;
    return this.#total < atOnce && this.#running.count(owner) < atOncePerOwner && !this.#busyMirrors.has(mirror);
  }

  #begin(owner: string, mirror: string): () => void {
    this.#total++;
    this.#busyMirrors.add(mirror);
    const release = this.#running.hold(owner);
    return () => {
      this.#total--;
      this.#busyMirrors.delete(mirror);
      release();
      for (const entry of this.#queue) if (this.#isFree(entry)) entry.begin();
    };
  }
}

function busy(): GitFault {
  return new GitFault("busy", "this node has much work with Git in hand: try again later");
}
