/**
 * Syncs the write-ahead log, one sync at a time. A sync covers everything that was committed before it began. After a
 * sync that failed nothing can be known any more: the kernel may have dropped the pages that it could not write, and a
 * later sync would succeed without them. So a failed sync ends the process. The next start writes what the log holds
 * into the file, and syncs that.
 *
 * Source: https://www.usenix.org/system/files/atc20-rebello.pdf ("Can Applications Recover from fsync Failures?")
 */
import { fdatasync } from "node:fs";
import { MillraceError } from "../../domain/errors.ts";

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface LogSyncOptions {
  /** The path of the store, for the message of a failure. */
  readonly path: string;
  /** Puts the content of a file on disk; `fdatasync` unless a test replaces it. */
  readonly sync?: (descriptor: number, done: (error: Error | null) => void) => void;
  /** Called once, after a failed sync; ends the process unless a test replaces it. */
  readonly onFailure?: (error: MillraceError) => void;
}

export class LogSync {
  readonly #descriptor: number;
  readonly #path: string;
  readonly #sync: NonNullable<LogSyncOptions["sync"]>;
  readonly #onFailure: NonNullable<LogSyncOptions["onFailure"]>;
  /** Covered by the sync that runs. */
  #syncing: Waiter[] | null = null;
  /** Covered by the next sync. */
  #next: Waiter[] = [];
  /** True when something was committed that no sync covers yet. */
  #isBehind = false;
  #failure: MillraceError | null = null;
  /** Called when the sync that runs has ended. */
  #afterwards: (() => void)[] = [];

  constructor(descriptor: number, { path, sync = fdatasync, onFailure = endProcess }: LogSyncOptions) {
    this.#descriptor = descriptor;
    this.#path = path;
    this.#sync = sync;
    this.#onFailure = onFailure;
  }

  /** Null until a sync has failed; then the error of every further call. */
  get failure(): MillraceError | null {
    return this.#failure;
  }

  get isIdle(): boolean {
    return this.#syncing === null && !this.#isBehind;
  }

  /**
   * Calls `act` once the sync that runs has ended, whatever its outcome; false when none runs. What is committed during a
   * sync waits for the next one.
   */
  afterwards(act: () => void): boolean {
    if (this.#syncing === null) return false;
    this.#afterwards.push(act);
    return true;
  }

  /** Something was committed just now. Resolves when it is on disk. */
  committed(): Promise<void> {
    this.#isBehind = true;
    const onDisk = new Promise<void>((resolve, reject) => this.#next.push({ resolve, reject }));
    this.#start();
    return onDisk;
  }

  /** Resolves when everything that is committed by now is on disk; null when it is already. */
  caughtUp(): Promise<void> | null {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const waiters = this.#isBehind ? this.#next : this.#syncing;
    return waiters && new Promise<void>((resolve, reject) => waiters.push({ resolve, reject }));
  }

  #start(): void {
    if (this.#syncing !== null || !this.#isBehind || this.#failure !== null) return;
    const covered = this.#next;
    this.#syncing = covered;
    this.#next = [];
    this.#isBehind = false;
    this.#sync(this.#descriptor, (error) => {
      this.#syncing = null;
      const afterwards = this.#afterwards;
      this.#afterwards = [];
      if (error !== null) this.#fail(error, covered);
      else {
        this.#start();
        for (const { resolve } of covered) resolve();
      }
      for (const act of afterwards) act();
    });
  }

  #fail(cause: Error, covered: readonly Waiter[]): void {
    const failure = new MillraceError(
      "unavailable",
      `the store ${this.#path} cannot be put on disk (${(cause as NodeJS.ErrnoException).code ?? cause.message}): ` +
        "this process ends, because what it has not acknowledged may be lost; check the disk, and start it again",
      { cause },
    );
    this.#failure = failure;
    // A caller must not see an answer of a process that no longer knows what is stored.
    this.#onFailure(failure);
    for (const { reject } of [...covered, ...this.#next]) reject(failure);
    this.#next = [];
    this.#isBehind = false;
  }
}

function endProcess({ message }: MillraceError): never {
  process.stderr.write(`error: ${message}\n`);
  process.exit(1);
}
