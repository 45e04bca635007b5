/**
 * Raw deflate (RFC 1951) of short texts against a fixed dictionary. For each text, zlib sets a stream up and reads the whole
 * dictionary, which takes several times as long as the text itself. Here the dictionary is read once. The bytes are one block
 * with the fixed codes, because codes of its own make a short text no smaller. Every inflater that is given the dictionary reads
 * them.
 */

/** The format has matches of three bytes, too. With the distances of a dictionary, those are no shorter than three literals. */
const [MIN_MATCH, MAX_MATCH] = [4, 258];
const SHORTEST_LENGTH = 3;
const HASH_BITS = 12;
/** Earlier places that are compared for one position, in the text and in the dictionary each. */
const MAX_CANDIDATES = 12;
/** After a match of this length, no longer one is looked for at the next position. */
const GOOD_MATCH = 24;
/** The symbol that ends a block. */
const END = 256;
/** The symbol of the shortest match. */
const FIRST_LENGTH = 257;
const LENGTH_EXTRA_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5];
const DISTANCE_EXTRA_BITS = [0, 0, 0, 0, ...Array.from({ length: 26 }, (_, at) => 1 + (at >> 1))];
const DISTANCE_BITS = 5;
/** The format allows twice as much. */
const MAX_DISTANCE = 16_384;

/** What stands for each value (literal, length or distance): `code` in the order in which its `bits` are written. */
interface Codes {
  readonly code: Uint32Array;
  readonly bits: Uint8Array;
}

const SYMBOLS = fixedSymbols();
const LENGTHS = lengthCodes();
const DISTANCES = rangeCodes(1, MAX_DISTANCE, DISTANCE_EXTRA_BITS, (symbol) => [
  reversed(symbol, DISTANCE_BITS),
  DISTANCE_BITS,
]);

export class ShortDeflate {
  readonly #maxChars: number;
  readonly #start: number;
  /** The dictionary, and behind it the text. */
  readonly #window: Buffer;
  /** The newest place with each hash, in the dictionary and in the text; -1 for none. */
  readonly #inDictionary = new Int16Array(1 << HASH_BITS).fill(-1);
  readonly #inText = new Int16Array(1 << HASH_BITS);
  /** For each place, the one before it with the same hash; -1 for none. */
  readonly #earlier: Int16Array;
  readonly #out: Uint8Array;

  /** For texts of up to `maxChars` characters. The dictionary and three times that number are no more than 16,384 bytes. */
  constructor(dictionary: Uint8Array, maxChars: number) {
    const maxBytes = 3 * maxChars;
    this.#maxChars = maxChars;
    this.#start = dictionary.length;
    this.#window = Buffer.alloc(dictionary.length + maxBytes + MIN_MATCH);
    this.#window.set(dictionary);
    this.#earlier = new Int16Array(this.#window.length);
    // A literal takes nine bits at most.
    this.#out = new Uint8Array(Math.ceil((maxBytes * 9) / 8) + 8);
    for (let at = 0; at + MIN_MATCH <= this.#start; at++) note(this.#window, at, this.#inDictionary, this.#earlier);
  }

  /** The deflated UTF-8 of the text. */
  deflate(text: string): Uint8Array {
    if (text.length > this.#maxChars) throw new RangeError(`${text.length} characters are too many`);
    const [window, out, inText, earlier] = [this.#window, this.#out, this.#inText, this.#earlier];
    const end = this.#start + window.write(text, this.#start);
    inText.fill(-1);
    // The bits of the last block with fixed codes.
    let pending = 0b011;
    let pendingBits = 3;
    let written = 0;
    const put = (code: number, bits: number): void => {
      pending |= code << pendingBits;
      pendingBits += bits;
      for (; pendingBits >= 8; pendingBits -= 8, pending >>>= 8) out[written++] = pending;
    };
    // The match at `at`; -1 when none was looked for.
    let found = -1;
    for (let at = this.#start; at < end;) {
      if (found === -1) found = this.#longest(at, end, MIN_MATCH);
      note(window, at, inText, earlier);
      const length = found & 0xffff;
      // A longer match at the next position is worth a literal.
      const later = length < GOOD_MATCH ? this.#longest(at + 1, end, length + 1) : 0;
      if (length === 0 || later > 0) {
        const byte = window[at++]!;
        put(SYMBOLS.code[byte]!, SYMBOLS.bits[byte]!);
        found = later;
      } else {
        put(LENGTHS.code[length]!, LENGTHS.bits[length]!);
        const distance = found >>> 16;
        put(DISTANCES.code[distance]!, DISTANCES.bits[distance]!);
        // The places inside of a match are not noted: what it repeats is noted already.
        at += length;
        found = -1;
      }
    }
    put(SYMBOLS.code[END]!, SYMBOLS.bits[END]!);
    if (pendingBits > 0) put(0, 8 - pendingBits);
    return out.slice(0, written);
  }

  /**
   * The longest match of what stands at `at`, and of several the nearest one: its length below its distance. 0 when there is none
   * of at least `least` bytes.
   */
  #longest(at: number, end: number, least: number): number {
    const window = this.#window;
    const earlier = this.#earlier;
    const most = Math.min(MAX_MATCH, end - at);
    let best = Math.max(least, MIN_MATCH) - 1;
    let from = -1;
    if (most <= best) return 0;
    const hash = hashAt(window, at);
    for (let part = 0; part < 2; part++) {
      let place = part === 0 ? this.#inText[hash]! : this.#inDictionary[hash]!;
      for (let left = MAX_CANDIDATES; place >= 0 && left > 0; left--, place = earlier[place]!) {
        if (window[place + best] !== window[at + best]) continue;
        let length = 0;
        while (length < most && window[place + length] === window[at + length]) length++;
        if (length <= best) continue;
        best = length;
        from = place;
        if (length === most) return ((at - from) << 16) | best;
      }
    }
    return from < 0 ? 0 : ((at - from) << 16) | best;
  }
}

/** Of the bytes of a shortest match. */
function hashAt(window: Uint8Array, at: number): number {
  const four = window[at]! | (window[at + 1]! << 8) | (window[at + 2]! << 16) | (window[at + 3]! << 24);
  return Math.imul(four, 0x9e37_79b1) >>> (32 - HASH_BITS);
}

function note(window: Uint8Array, at: number, newest: Int16Array, earlier: Int16Array): void {
  const hash = hashAt(window, at);
  earlier[at] = newest[hash]!;
  newest[hash] = at;
}

/** The fixed codes of literals, of the end, and of lengths (RFC 1951, section 3.2.6). */
function fixedSymbols(): Codes {
  const codes: Codes = { code: new Uint32Array(288), bits: new Uint8Array(288) };
  const parts = [
    { from: 0, to: 144, bits: 8, first: 0x30 },
    { from: 144, to: 256, bits: 9, first: 0x190 },
    { from: 256, to: 280, bits: 7, first: 0 },
    { from: 280, to: 288, bits: 8, first: 0xc0 },
  ];
  for (const { from, to, bits, first } of parts) {
    for (let symbol = from; symbol < to; symbol++) {
      codes.code[symbol] = reversed(first + symbol - from, bits);
      codes.bits[symbol] = bits;
    }
  }
  return codes;
}

function lengthCodes(): Codes {
  const ofSymbol = (at: number): readonly [number, number] => {
    return [SYMBOLS.code[FIRST_LENGTH + at]!, SYMBOLS.bits[FIRST_LENGTH + at]!];
  };
  const codes = rangeCodes(SHORTEST_LENGTH, MAX_MATCH, LENGTH_EXTRA_BITS, ofSymbol);
  // The longest match has a symbol of its own.
  [codes.code[MAX_MATCH], codes.bits[MAX_MATCH]] = ofSymbol(LENGTH_EXTRA_BITS.length);
  return codes;
}

/** Codes of the values from `first` on: each symbol stands for as many values as its extra bits tell apart. */
function rangeCodes(
  first: number,
  last: number,
  extraBits: readonly number[],
  ofSymbol: (at: number) => readonly [code: number, bits: number],
): Codes {
  const codes: Codes = { code: new Uint32Array(last + 1), bits: new Uint8Array(last + 1) };
  let value = first;
  for (const [at, extra] of extraBits.entries()) {
    const [code, bits] = ofSymbol(at);
    for (let offset = 0; offset < 1 << extra && value <= last; offset++, value++) {
      codes.code[value] = code | (offset << bits);
      codes.bits[value] = bits + extra;
    }
  }
  return codes;
}

/** Codes are written from their first bit on, and numbers from their last one. */
function reversed(code: number, bits: number): number {
  let result = 0;
  for (let at = 0; at < bits; at++) result |= ((code >> at) & 1) << (bits - 1 - at);
  return result;
}
