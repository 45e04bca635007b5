/** Masks secrets in a stream of bytes, also where a secret arrives in pieces. */

const MASK = Buffer.from("***");
/** Shorter values occur by chance so often that masking them would only garble the log. */
const SHORTEST_BYTES = 4;

/**
 * Replaces each run of bytes that occurrences of secrets cover with `***`; overlapping occurrences make one run, so no
 * part of a secret shows beside another. Holds back at most the length of the longest secret.
 */
export class SecretMask {
  readonly #secrets: readonly Buffer[];
  readonly #emit: (bytes: Buffer) => void;
  #held: Buffer = Buffer.alloc(0);
  /** How many bytes of `#held` belong to a run whose mask is already out. */
  #covered = 0;

  constructor(secrets: readonly string[], emit: (bytes: Buffer) => void) {
    const unique = new Set(secrets.filter((secret) => Buffer.byteLength(secret) >= SHORTEST_BYTES));
    this.#secrets = [...unique].map((secret) => Buffer.from(secret));
    this.#emit = emit;
  }

  write(chunk: Buffer): void {
    if (this.#secrets.length === 0) return this.#emit(chunk);
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#pass(bytes, this.#startOfOpenEnd(bytes));
  }

  /** Emits what was held back: it has not become a secret. */
  end(): void {
    this.#pass(this.#held, this.#held.length);
  }

  /** Emits `bytes` up to `until` with its secrets masked and keeps the rest. */
  #pass(bytes: Buffer, until: number): void {
    const out: Buffer[] = [];
    let at = Math.min(this.#covered, until);
    let covered = this.#covered;
    for (const [start, end] of this.#runs(bytes)) {
      if (start >= until) break;
      if (start > at) out.push(bytes.subarray(at, start));
      if (start >= covered) out.push(MASK);
      covered = end;
      at = Math.min(end, until);
    }
    if (at < until) out.push(bytes.subarray(at, until));
    this.#held = Buffer.from(bytes.subarray(until));
    this.#covered = Math.max(0, covered - until);
    if (out.length > 0) this.#emit(out.length === 1 ? out[0]! : Buffer.concat(out));
  }

  /** Merged spans of all occurrences, ascending; the span that is already masked comes first. */
  #runs(bytes: Buffer): [start: number, end: number][] {
    const spans: [number, number][] = this.#covered > 0 ? [[0, this.#covered]] : [];
    for (const secret of this.#secrets) {
      for (let at = bytes.indexOf(secret); at !== -1; at = bytes.indexOf(secret, at + 1)) {
        spans.push([at, at + secret.length]);
      }
    }
    spans.sort(([a], [b]) => a - b);
    const runs: [number, number][] = [];
    for (const [start, end] of spans) {
      const last = runs.at(-1);
      if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
      else runs.push([start, end]);
    }
    return runs;
  }

  /** Where the first end of `bytes` starts that could still become a secret. */
  #startOfOpenEnd(bytes: Buffer): number {
    let open = bytes.length;
    for (const secret of this.#secrets) {
      for (let start = Math.max(0, bytes.length - secret.length + 1); start < open; start++) {
        const tail = bytes.length - start;
        if (bytes.compare(secret, 0, tail, start) === 0) open = start;
      }
    }
    return open;
  }
}
