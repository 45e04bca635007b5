/**
 * Finds one form of a secret in bytes that repeat themselves as the form does, such as a long run of one character. A
 * comparison at each position would take time that grows with the product of both lengths, and hold the agent up. Pure.
 *
 * The algorithm is that of Knuth, Morris and Pratt.
 */
import { SHORTEST_BYTES, type SecretForm } from "./secret-forms.ts";

const LF = 0x0a;
const CR = 0x0d;

/** What was found from one position on. */
export interface DeepMatch {
  /** Ranges in which the form stands, ascending; those that overlap make one range. */
  readonly spans: readonly (readonly [start: number, end: number])[];
  /** The first position at which the form may stand when further bytes come; the length of the bytes if there is none. */
  readonly openFrom: number;
  /** The form was looked for at all earlier positions. */
  readonly decidedUntil: number;
}

export class DeepMatcher {
  readonly #form: Buffer;
  readonly #mayFold: boolean;
  /** For each length of a beginning of the form, the longest shorter beginning of the form that it ends with. */
  readonly #shorter: Int32Array;

  constructor({ bytes, mayFold }: SecretForm) {
    this.#form = bytes;
    this.#mayFold = mayFold;
    this.#shorter = shorterBeginnings(bytes);
  }

  /**
   * Looks for the form at `start` and at the positions after it, until fewer than `least` of its bytes are matched.
   * Takes time that grows with the bytes that it passes alone.
   */
  find(bytes: Buffer, start: number, least: number): DeepMatch {
    const form = this.#form;
    const spans: [start: number, end: number][] = [];
    /** Where the passed bytes stand that are not skipped as line breaks. */
    const places: number[] = [];
    let matched = 0;
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#mayFold && (byte === LF || byte === CR)) continue;
      places.push(at);
      while (matched > 0 && byte !== form[matched]) matched = this.#shorter[matched]!;
      if (byte === form[matched]) matched++;
      if (matched === form.length) {
        const first = places.length - matched;
        if (beginsWhole(places, first)) addSpan(spans, places[first]!, at + 1);
        matched = this.#shorter[matched]!;
      }
      if (matched < least && places.length >= least) {
        return { spans, openFrom: bytes.length, decidedUntil: places[places.length - matched] ?? at + 1 };
      }
    }
    for (let length = matched; length >= SHORTEST_BYTES; length = this.#shorter[length]!) {
      const first = places.length - length;
      if (beginsWhole(places, first)) return { spans, openFrom: places[first]!, decidedUntil: bytes.length };
    }
    return { spans, openFrom: bytes.length, decidedUntil: bytes.length };
  }
}

/** No line break is skipped within the first bytes of a form. */
function beginsWhole(places: readonly number[], first: number): boolean {
  return places[first + SHORTEST_BYTES - 1]! - places[first]! === SHORTEST_BYTES - 1;
}

function addSpan(spans: [start: number, end: number][], start: number, end: number): void {
  const last = spans.at(-1);
  if (last !== undefined && start < last[1]) last[1] = end;
  else spans.push([start, end]);
}

function shorterBeginnings(form: Buffer): Int32Array {
  const shorter = new Int32Array(form.length + 1);
  for (let length = 2, matched = 0; length <= form.length; length++) {
    const byte = form[length - 1];
    while (matched > 0 && byte !== form[matched]) matched = shorter[matched]!;
    if (byte === form[matched]) matched++;
    shorter[length] = matched;
  }
  return shorter;
}
