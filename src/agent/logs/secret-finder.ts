/**
 * Finds the secrets of one step in bytes, in all their forms. It reads each byte once, however many secrets the step
 * has.
 */
import { formsOf, type SecretForm, SHORTEST_BYTES } from "./secret-forms.ts";

const MASK = "***";
const LF = 0x0a;
const CR = 0x0d;
const FILTER_BITS = 16;

export type Span = readonly [start: number, end: number];

export interface Found {
  /** Byte ranges that secrets cover, ascending. Overlapping secrets make one range. */
  readonly spans: readonly Span[];
  /**
   * Position from which the last bytes may be the start of a secret that further bytes complete; the length of the
   * bytes if there is no such position.
   */
  readonly openFrom: number;
}

export class SecretFinder {
  /** Forms by their first four bytes. */
  readonly #forms = new Map<number, SecretForm[]>();
  /** Marks the hashes of first four bytes. It rules out almost every byte of a log at once. */
  readonly #filter = new Uint8Array(1 << FILTER_BITS);
  /** The first one to three bytes of each form, encoded with their number by {@link encodePrefix}. */
  readonly #shortPrefixes = new Set<number>();

  constructor(values: readonly string[]) {
    for (const form of values.flatMap(formsOf)) {
      const prefix = form.bytes.readUInt32BE(0);
      const alike = this.#forms.get(prefix);
      if (alike === undefined) this.#forms.set(prefix, [form]);
      else alike.push(form);
      this.#filter[hash(prefix)] = 1;
      for (let length = 1; length < SHORTEST_BYTES; length++)
        this.#shortPrefixes.add(encodePrefix(form.bytes, 0, length));
    }
  }

  /** True when the step has no secret that could be found. */
  get isEmpty(): boolean {
    return this.#forms.size === 0;
  }

  find(bytes: Buffer): Found {
    const spans: [start: number, end: number][] = [];
    let openFrom = bytes.length;
    let prefix = 0;
    for (let next = 0; next < bytes.length; next++) {
      prefix = (prefix << 8) | bytes[next]!;
      if (next < SHORTEST_BYTES - 1 || this.#filter[hash(prefix)] === 0) continue;
      const start = next - SHORTEST_BYTES + 1;
      for (const form of this.#forms.get(prefix >>> 0) ?? []) {
        const end = endOf(form, bytes, start);
        if (end === "open") openFrom = Math.min(openFrom, start);
        else if (end !== "none") cover(spans, start, end);
      }
    }
    for (let start = Math.max(0, bytes.length - SHORTEST_BYTES + 1); start < openFrom; start++) {
      if (this.#shortPrefixes.has(encodePrefix(bytes, start, bytes.length))) openFrom = start;
    }
    return { spans, openFrom };
  }

  /** The text with each run that secrets cover replaced by `***`. */
  mask(text: string): string {
    if (this.isEmpty) return text;
    const bytes = Buffer.from(text);
    let masked = "";
    let at = 0;
    for (const [start, end] of this.find(bytes).spans) {
      masked += bytes.toString("utf8", at, start) + MASK;
      at = end;
    }
    return masked + bytes.toString("utf8", at);
  }

  /** Whether the text holds a secret. */
  isIn(text: string): boolean {
    return !this.isEmpty && this.find(Buffer.from(text)).spans.length > 0;
  }
}

/**
 * Where the form that starts at `start` ends; `open` when further bytes may complete it, `none` when the bytes differ
 * from it. The caller has compared the form's first four bytes.
 */
function endOf({ bytes: form, mayFold }: SecretForm, bytes: Buffer, start: number): number | "open" | "none" {
  let at = start + SHORTEST_BYTES;
  for (let index = SHORTEST_BYTES; index < form.length; index++, at++) {
    if (mayFold) while (bytes[at] === LF || bytes[at] === CR) at++;
    if (at >= bytes.length) return "open";
    if (bytes[at] !== form[index]) return "none";
  }
  return at;
}

/** Adds a range to `spans`. The caller adds ranges in ascending order of their starts. */
function cover(spans: [start: number, end: number][], start: number, end: number): void {
  const last = spans.at(-1);
  if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
  else spans.push([start, end]);
}

/** Encodes one to three bytes as a number, with their count in the highest byte. */
function encodePrefix(bytes: Buffer, start: number, end: number): number {
  let prefix = end - start;
  for (let at = start; at < end; at++) prefix = (prefix << 8) | bytes[at]!;
  return prefix;
}

function hash(prefix: number): number {
  return Math.imul(prefix, 0x9e37_79b1) >>> (32 - FILTER_BITS);
}
