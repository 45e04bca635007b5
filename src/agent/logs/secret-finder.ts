/**
 * Finds the secrets of one step in bytes, in all their forms. It reads each byte once, however many secrets the step
 * has.
 */
import { formsOf, type LooseForm, looseFormsOf, prefixesOf, type SecretForm, SHORTEST_BYTES } from "./secret-forms.ts";

const MASK = "***";
const LF = 0x0a;
const CR = 0x0d;
const FILTER_BITS = 16;
/** The filter of all steps without secrets, which are most. */
const NO_SECRETS = new Uint8Array(1 << FILTER_BITS);
/** A secret of many backslashes could be read in as many ways as it has characters. */
const MAX_READINGS = 32;

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
  readonly #forms = new Map<number, (SecretForm | LooseForm)[]>();
  /** Marks the hashes of first four bytes. It rules out almost every byte of a log at once. */
  readonly #filter: Uint8Array;
  /** The first one to three bytes of each form, encoded with their number by {@link encodePrefix}. */
  readonly #shortPrefixes = new Set<number>();

  constructor(values: readonly string[]) {
    this.#filter = values.length === 0 ? NO_SECRETS : new Uint8Array(1 << FILTER_BITS);
    for (const form of values.flatMap(formsOf)) this.#add(form, form.bytes);
    for (const form of values.flatMap(looseFormsOf)) for (const prefix of prefixesOf(form)) this.#add(form, prefix);
  }

  #add(form: SecretForm | LooseForm, firstBytes: Buffer): void {
    const prefix = firstBytes.readUInt32BE(0);
    const alike = this.#forms.get(prefix);
    if (alike === undefined) this.#forms.set(prefix, [form]);
    else alike.push(form);
    this.#filter[hash(prefix)] = 1;
    for (let length = 1; length < SHORTEST_BYTES; length++)
      this.#shortPrefixes.add(encodePrefix(firstBytes, 0, length));
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
        const { end, isOpen } = "bytes" in form ? endOf(form, bytes, start) : endOfLoose(form, bytes, start);
        if (isOpen) openFrom = Math.min(openFrom, start);
        if (end > 0) cover(spans, start, end);
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

/** Where a form ends that starts at some position. */
interface FormEnd {
  /** 0 when the bytes differ from the form, or end before it does. */
  readonly end: number;
  /** Further bytes may complete the form, or make it longer. */
  readonly isOpen: boolean;
}

const NONE: FormEnd = { end: 0, isOpen: false };
const OPEN: FormEnd = { end: 0, isOpen: true };

/** The caller has compared the form's first four bytes. */
function endOf({ bytes: form, mayFold }: SecretForm, bytes: Buffer, start: number): FormEnd {
  let at = start + SHORTEST_BYTES;
  for (let index = SHORTEST_BYTES; index < form.length; index++, at++) {
    if (mayFold) at = afterLineBreaks(bytes, at);
    if (at >= bytes.length) return OPEN;
    if (bytes[at] !== form[index]) return NONE;
  }
  return { end: at, isOpen: false };
}

/**
 * Follows all readings of the bytes at the same time, since a backslash may be a character of the secret or escape the
 * next one. Few of them are left after a few characters.
 */
function endOfLoose({ characters, mayFold }: LooseForm, bytes: Buffer, start: number): FormEnd {
  let reached = [start];
  let isOpen = false;
  for (const alternatives of characters) {
    const next: number[] = [];
    for (const before of reached) {
      const at = mayFold && before >= start + SHORTEST_BYTES ? afterLineBreaks(bytes, before) : before;
      for (const alternative of alternatives) {
        const fit = compare(alternative, bytes, at);
        if (fit === "open") isOpen = true;
        else if (fit === "same" && next.length < MAX_READINGS && !next.includes(at + alternative.length))
          next.push(at + alternative.length);
      }
    }
    if (next.length === 0) return isOpen ? OPEN : NONE;
    reached = next;
  }
  return { end: Math.max(...reached), isOpen };
}

/** `open`: the bytes end before `form` does. */
function compare(form: Buffer, bytes: Buffer, start: number): "same" | "different" | "open" {
  for (let index = 0; index < form.length; index++) {
    if (start + index >= bytes.length) return "open";
    if (bytes[start + index] !== form[index]) return "different";
  }
  return "same";
}

function afterLineBreaks(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === LF || bytes[at] === CR) at++;
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
