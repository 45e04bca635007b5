/** Counts the work of pure code: hashes, reads of other actors, and reads of planned jobs. No clock takes part. */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import type { RunPlan } from "../../src/domain/plan.ts";

export class WorkMeter {
  /** Since the start; a caller that measures a turn takes the difference. */
  work = 0;
  /** An attempt to do more work throws, so that a test of quadratic code ends. */
  limit = Infinity;

  add(work: number): void {
    this.work += work;
    if (this.work > this.limit) throw new Error(`more work than ${this.limit}`);
  }

  /** Counts every hash that `body` computes. */
  countHashes<T>(body: () => T): T {
    const restore = this.#replaceHashes();
    try {
      return body();
    } finally {
      restore();
    }
  }

  /** Counts every hash that the process computes until `body` has resolved. */
  async countHashesUntil<T>(body: () => Promise<T>): Promise<T> {
    const restore = this.#replaceHashes();
    try {
      return await body();
    } finally {
      restore();
    }
  }

  #replaceHashes(): () => void {
    const { hash, createHash } = crypto;
    const counted = <F extends (...args: never[]) => unknown>(call: F): F =>
      ((...args: Parameters<F>) => {
        this.add(1);
        return call(...args);
      }) as F;
    Object.assign(crypto, { hash: counted(hash), createHash: counted(createHash) });
    syncBuiltinESMExports();
    return () => {
      Object.assign(crypto, { hash, createHash });
      syncBuiltinESMExports();
    };
  }

  /** The same plan; each read of one of its jobs counts. */
  counted(plan: RunPlan): RunPlan {
    const jobs = new Proxy(plan.jobs, {
      get: (target, key, receiver) => {
        if (typeof key === "string" && /^\d/.test(key)) this.add(1);
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    return { ...plan, jobs };
  }
}
