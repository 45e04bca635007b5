/** Masks secrets in a stream of bytes, even when a secret arrives in pieces. */
import type { SecretFinder, Span } from "./secret-finder.ts";

const MASK = Buffer.from("***");

/**
 * Replaces each range of bytes that secrets cover with `***`. Overlapping secrets make one range, so that no part of
 * one secret stays visible beside another. Holds back at most as many bytes as the longest form of a secret and the
 * line breaks in it.
 */
export class SecretMask {
  readonly #finder: SecretFinder;
  readonly #emit: (bytes: Buffer) => void;
  #held: Buffer = Buffer.alloc(0);
  /** How many bytes of `#held` belong to a range whose mask was already emitted. */
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

  /** Emits the bytes that were held back, since no further bytes can complete a secret. */
  end(): void {
    this.#pass(this.#held, this.#finder.find(this.#held).spans, this.#held.length);
  }

  /** Emits `bytes` up to `until` with its secrets masked, and holds back the rest. */
  #pass(bytes: Buffer, spans: readonly Span[], until: number): void {
    const out: Buffer[] = [];
    let covered = this.#covered;
    let at = Math.min(covered, until);
    for (const [start, end] of spans) {
      if (start >= until) break;
      if (start > at) out.push(bytes.subarray(at, start));
      // A secret that overlaps the range whose mask was emitted only makes that range longer.
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
