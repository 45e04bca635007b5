/** Masks secrets in a stream of bytes, also where a secret arrives in pieces. */
import type { SecretFinder, Span } from "./secret-finder.ts";

const MASK = Buffer.from("***");

/**
 * Replaces each run of bytes that occurrences of secrets cover with `***`; overlapping occurrences make one run, so no
 * part of a secret shows beside another. Holds back at most the length of the longest form of a secret, and the line
 * breaks in it.
 */
export class SecretMask {
  readonly #finder: SecretFinder;
  readonly #emit: (bytes: Buffer) => void;
  #held: Buffer = Buffer.alloc(0);
  /** How many bytes of `#held` belong to a run whose mask is already out. */
  #covered = 0;

  constructor(finder: SecretFinder, emit: (bytes: Buffer) => void) {
    this.#finder = finder;
    this.#emit = emit;
  }

  write(chunk: Buffer): void {
    if (this.#finder.isEmpty) return this.#emit(chunk);
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const { spans, openFrom } = this.#finder.find(bytes);
    this.#pass(bytes, spans, openFrom);
  }

  /** Emits what was held back: it has not become a secret. */
  end(): void {
    this.#pass(this.#held, this.#finder.find(this.#held).spans, this.#held.length);
  }

  /** Emits `bytes` up to `until` with its secrets masked and keeps the rest. */
  #pass(bytes: Buffer, spans: readonly Span[], until: number): void {
    const out: Buffer[] = [];
    let covered = this.#covered;
    let at = Math.min(covered, until);
    for (const [start, end] of spans) {
      if (start >= until) break;
      if (start > at) out.push(bytes.subarray(at, start));
      // One that overlaps the run whose mask is out makes that run longer.
      if (start >= covered) out.push(MASK);
      covered = Math.max(covered, end);
      at = Math.min(covered, until);
    }
    if (at < until) out.push(bytes.subarray(at, until));
    this.#held = Buffer.from(bytes.subarray(until));
    this.#covered = Math.max(0, covered - until);
    if (out.length > 0) this.#emit(out.length === 1 ? out[0]! : Buffer.concat(out));
  }
}
