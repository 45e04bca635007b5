/**
 * Finds the secrets of one step in bytes, in all their forms. It reads each byte once, however many secrets the step
 * has.
 */
import { DeepMatcher } from "./deep-match.ts";
import { formsOf, type LooseForm, looseFormsOf, prefixesOf, type SecretForm, SHORTEST_BYTES } from "./secret-forms.ts";

const MASK = "***";
const LF = 0x0a;
const CR = 0x0d;
const FILTER_BITS = 16;
/** The filter of all steps without secrets, which are most. */
const NO_SECRETS = new Uint8Array(1 << FILTER_BITS);
/** A secret of many backslashes could be read in as many ways as it has characters. */
const MAX_READINGS = 32;
/** A form that agrees with this many bytes is looked for in a way that compares no byte again. */
const DEEP_BYTES = 64;
/**
 * Characters of loose forms that one call compares: at least so many, and so many for each byte. A secret that repeats
 * itself, in bytes that do so too, would take minutes; no other one comes near.
 */
const LOOSE_CHARACTERS = { least: 65_536, forByte: 4 };

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
  /** Made for a form when bytes first agree with it that far. */
  readonly #deep = new Map<SecretForm, DeepMatcher>();
  /** Marks the bytes with which a tool begins to write a character otherwise than as it is. */
  readonly #escapes = new Uint8Array(256);
  /** The first one to three bytes of each form, encoded with their number by {@link encodePrefix}. */
  readonly #shortPrefixes = new Set<number>();

  constructor(values: readonly string[]) {
    this.#filter = values.length === 0 ? NO_SECRETS : new Uint8Array(1 << FILTER_BITS);
    for (const form of values.flatMap(formsOf)) this.#add(form, form.bytes);
    for (const form of values.flatMap(looseFormsOf)) {
      for (const prefix of prefixesOf(form)) this.#add(form, prefix);
      for (const [, ...others] of form.characters) for (const other of others) this.#escapes[other[0]!] = 1;
    }
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
    const deepSpans: Span[] = [];
    const decidedUntil = new Map<SecretForm, number>();
    const effort = { left: LOOSE_CHARACTERS.least + LOOSE_CHARACTERS.forByte * bytes.length };
    let openFrom = bytes.length;
    let escapeAt = 0;
    let prefix = 0;
    for (let next = 0; next < bytes.length; next++) {
      prefix = (prefix << 8) | bytes[next]!;
      if (next < SHORTEST_BYTES - 1 || this.#filter[hash(prefix)] === 0) continue;
      const start = next - SHORTEST_BYTES + 1;
      for (const form of this.#forms.get(prefix >>> 0) ?? []) {
        let found: FormEnd | "deep";
        if ("bytes" in form) {
          if (start < (decidedUntil.get(form) ?? 0)) continue;
          found = endOf(form, bytes, start);
          if (found === "deep") {
            const deep = this.#deepMatcher(form).find(bytes, start, DEEP_BYTES);
            deepSpans.push(...deep.spans);
            openFrom = Math.min(openFrom, deep.openFrom);
            decidedUntil.set(form, deep.decidedUntil);
            continue;
          }
        } else {
          while (escapeAt < bytes.length && (escapeAt < start || this.#escapes[bytes[escapeAt]!] === 0)) escapeAt++;
          if (escapeAt === bytes.length || escapeAt >= start + reachOf(form)) continue;
          found = endOfLoose(form, bytes, start, effort);
        }
        if (found.isOpen) openFrom = Math.min(openFrom, start);
        if (found.end > 0) cover(spans, start, found.end);
      }
    }
    for (let start = Math.max(0, bytes.length - SHORTEST_BYTES + 1); start < openFrom; start++) {
      if (this.#shortPrefixes.has(encodePrefix(bytes, start, bytes.length))) openFrom = start;
    }
    return { spans: deepSpans.length === 0 ? spans : united([...spans, ...deepSpans]), openFrom };
  }

  #deepMatcher(form: SecretForm): DeepMatcher {
    let matcher = this.#deep.get(form);
    if (matcher === undefined) this.#deep.set(form, (matcher = new DeepMatcher(form)));
    return matcher;
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

/** The caller has compared the form's first four bytes. `deep`: {@link DEEP_BYTES} agree, and there are more. */
function endOf({ bytes: form, mayFold }: SecretForm, bytes: Buffer, start: number): FormEnd | "deep" {
  let at = start + SHORTEST_BYTES;
  for (let index = SHORTEST_BYTES; index < form.length; index++, at++) {
    if (index === DEEP_BYTES) return "deep";
    if (mayFold) at = afterLineBreaks(bytes, at);
    if (at >= bytes.length) return OPEN;
    if (bytes[at] !== form[index]) return NONE;
  }
  return { end: at, isOpen: false };
}

/**
 * Follows all readings of the bytes at the same time, since a backslash may be a character of the secret or escape the
 * next one. Few of them are left after a few characters. Without effort left, all bytes that the form may cover count as
 * the secret.
 */
function endOfLoose(
  { characters, mayFold, maxBytes }: LooseForm,
  bytes: Buffer,
  start: number,
  effort: { left: number },
): FormEnd {
  let reached = [start];
  let isOpen = false;
  for (const alternatives of characters) {
    effort.left -= reached.length;
    if (effort.left < 0) {
      const end = start + maxBytes;
      return { end: Math.min(end, bytes.length), isOpen: end > bytes.length };
    }
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

/**
 * How far from its start a form has its first escaped character at the latest. Without one it is the plain text, which
 * is a form of its own. A folded text has at most as many line breaks as characters.
 */
function reachOf({ plainBytes, mayFold }: LooseForm): number {
  return mayFold ? 2 * plainBytes : plainBytes;
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

/** The ranges in ascending order, those that overlap as one. */
function united(spans: readonly Span[]): readonly Span[] {
  const all: [start: number, end: number][] = [];
  for (const [start, end] of spans.toSorted(([one], [other]) => one - other)) cover(all, start, end);
  return all;
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
