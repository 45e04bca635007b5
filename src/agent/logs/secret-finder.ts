/** Finds the secrets of one step in bytes, in all their forms, with one look at each byte however many there are. */
import { formsOf, type SecretForm, SHORTEST_BYTES } from "./secret-forms.ts";

const MASK = "***";
const LF = 0x0a;
const CR = 0x0d;
const FILTER_BITS = 16;

export type Span = readonly [start: number, end: number];

export interface Found {
  /** What secrets cover, ascending; those that overlap are one. */
  readonly spans: readonly Span[];
  /** Where the first end of the bytes starts that could still become a secret; their length when none does. */
  readonly openFrom: number;
}

export class SecretFinder {
  /** By the bytes with which they begin. */
  readonly #forms = new Map<number, SecretForm[]>();
  /** Which beginnings there may be: almost every byte of a log is passed over by it. */
  readonly #filter = new Uint8Array(1 << FILTER_BITS);
  /** Beginnings of one to three bytes, with their length above them. */
  readonly #stubs = new Set<number>();

  constructor(values: readonly string[]) {
    for (const form of values.flatMap(formsOf)) {
      const beginning = form.bytes.readUInt32BE(0);
      const alike = this.#forms.get(beginning);
      if (alike === undefined) this.#forms.set(beginning, [form]);
      else alike.push(form);
      this.#filter[hash(beginning)] = 1;
      for (let length = 1; length < SHORTEST_BYTES; length++) this.#stubs.add(stubOf(form.bytes, 0, length));
    }
  }

  /** True when there is nothing to find. */
  get isEmpty(): boolean {
    return this.#forms.size === 0;
  }

  find(bytes: Buffer): Found {
    const spans: [start: number, end: number][] = [];
    let openFrom = bytes.length;
    let beginning = 0;
    for (let next = 0; next < bytes.length; next++) {
      beginning = (beginning << 8) | bytes[next]!;
      if (next < SHORTEST_BYTES - 1 || this.#filter[hash(beginning)] === 0) continue;
      const start = next - SHORTEST_BYTES + 1;
      for (const form of this.#forms.get(beginning >>> 0) ?? []) {
        const end = endOf(form, bytes, start);
        if (end === "open") openFrom = Math.min(openFrom, start);
        else if (end !== "none") cover(spans, start, end);
      }
    }
    for (let start = Math.max(0, bytes.length - SHORTEST_BYTES + 1); start < openFrom; start++) {
      if (this.#stubs.has(stubOf(bytes, start, bytes.length))) openFrom = start;
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

  isIn(text: string): boolean {
    return !this.isEmpty && this.find(Buffer.from(text)).spans.length > 0;
  }
}

/** Where the form that begins at `start` ends; `open` when the bytes end before that is known. Its beginning is known to be there. */
function endOf({ bytes: form, mayFold }: SecretForm, bytes: Buffer, start: number): number | "open" | "none" {
  let at = start + SHORTEST_BYTES;
  for (let index = SHORTEST_BYTES; index < form.length; index++, at++) {
    if (mayFold) while (bytes[at] === LF || bytes[at] === CR) at++;
    if (at >= bytes.length) return "open";
    if (bytes[at] !== form[index]) return "none";
  }
  return at;
}

/** Starts come in ascending order. */
function cover(spans: [start: number, end: number][], start: number, end: number): void {
  const last = spans.at(-1);
  if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
  else spans.push([start, end]);
}

function stubOf(bytes: Buffer, start: number, end: number): number {
  let stub = end - start;
  for (let at = start; at < end; at++) stub = (stub << 8) | bytes[at]!;
  return stub;
}

function hash(beginning: number): number {
  return Math.imul(beginning, 0x9e37_79b1) >>> (32 - FILTER_BITS);
}
