/**
 * Bounds the work on repositories that a process does at once: one piece for each mirror, some for each owner, and some in
 * all. So a slow server of one owner does not hold up the work of others.
 */
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
  readonly #running = new Map<string, number>();
  #total = 0;
  /** In the order of their calls. */
  readonly #queue = new Set<Waiting>();

  constructor(bounds: WorkBounds) {
    this.#bounds = bounds;
  }

  /** Rejects as the work does, and with `busy` when too much waits, or when it has waited for too long. */
  async take<T>(owner: string, mirror: string, work: () => Promise<T>): Promise<T> {
    await this.#enter(owner, mirror);
    try {
      return await work();
    } finally {
      this.#leave(owner, mirror);
    }
  }

  #enter(owner: string, mirror: string): Promise<void> {
    if (this.#isFree({ owner, mirror })) {
      this.#begin(owner, mirror);
      return Promise.resolve();
    }
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
          this.#begin(owner, mirror);
          resolve();
        },
      };
      this.#queue.add(entry);
    });
  }

  #isFree({ owner, mirror }: Pick<Waiting, "owner" | "mirror">): boolean {
    const { atOnce, atOncePerOwner } = this.#bounds;
    return this.#total < atOnce && (this.#running.get(owner) ?? 0) < atOncePerOwner && !this.#busyMirrors.has(mirror);
  }

  #begin(owner: string, mirror: string): void {
    this.#total++;
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1);
    this.#busyMirrors.add(mirror);
  }

  #leave(owner: string, mirror: string): void {
    this.#total--;
    const left = this.#running.get(owner)! - 1;
    if (left === 0) this.#running.delete(owner);
    else this.#running.set(owner, left);
    this.#busyMirrors.delete(mirror);
    for (const entry of this.#queue) if (this.#isFree(entry)) entry.begin();
  }
}

function busy(): GitFault {
  return new GitFault("busy", "this node has much work with Git in hand: try again later");
}
