/**
 * Hashes of passwords (argon2id), made and verified on a thread of their own, one at a time. The library's own
 * asynchronous calls work in the pool of threads in which the store's files are synced too: 16 users who log in at once
 * would delay every commit. The thread has the priority of the others: a thread of lower priority that holds a lock of the
 * process would hold up all of it on a busy machine.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { MillraceError } from "../../domain/errors.ts";

/** `stored` is the hash to verify; null to make one. */
interface PasswordRequest {
  readonly id: number;
  readonly password: string;
  readonly stored: string | null;
}

type PasswordAnswer =
  | { readonly id: number; readonly result: string | boolean }
  | { readonly id: number; readonly failed: string };

interface Waiting {
  readonly resolve: (result: string | boolean) => void;
  readonly reject: (error: Error) => void;
}

/** Calls that may be in hand or wait. A hash takes about 20 ms, so the last of them waits for less than a second. */
const MAX_WAITING = 32;

/** The program of the thread, as text, because a file of TypeScript cannot be the program of a thread. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const { hashSync, verifySync } = require(workerData);
parentPort.on("message", ({ id, password, stored }) => {
  try {
    parentPort.postMessage({ id, result: stored === null ? hashSync(password) : verifySync(stored, password) });
  } catch (error) {
    parentPort.postMessage({ id, failed: String(error) });
  }
});`;
const require = createRequire(import.meta.url);

/** The calls that have no answer yet, by id. */
const waiting = new Map<number, Waiting>();
let thread: Worker | null = null;
let lastId = 0;

/** Rejects with `too_many` when too many calls wait already. */
export async function hashPassword(password: string): Promise<string> {
  return (await ask(password, null)) as string;
}

/** True when `stored` is a hash of the password. Rejects as {@link hashPassword} does. */
export async function verifyPassword(stored: string, password: string): Promise<boolean> {
  return (await ask(password, stored)) as boolean;
}

function ask(password: string, stored: string | null): Promise<string | boolean> {
  if (waiting.size >= MAX_WAITING) {
    return Promise.reject(new MillraceError("too_many", "too many users log in at once: try again"));
  }
  thread ??= startThread();
  // The thread keeps the process alive only while a call waits for it.
  if (waiting.size === 0) thread.ref();
  const id = ++lastId;
  thread.postMessage({ id, password, stored } satisfies PasswordRequest);
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function startThread(): Worker {
  const workerData = require.resolve("@node-rs/argon2");
  const started = new Worker(PROGRAM, { eval: true, execArgv: [], workerData });
  started.unref();
  started.on("message", (answer: PasswordAnswer) => {
    const call = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (waiting.size === 0) started.unref();
    if ("failed" in answer) call?.reject(new Error(answer.failed));
    else call?.resolve(answer.result);
  });
  const end = (error: Error): void => {
    if (thread !== started) return;
    thread = null;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  started.on("error", end);
  started.on("exit", (code) => end(new Error(`the thread for passwords ended with ${code}`)));
  return started;
}
