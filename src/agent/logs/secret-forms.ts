/** The forms in which a secret may appear: unchanged, line by line, and as common tools encode it. Pure. */
import { escapedForms, htmlForms, percentForms } from "./character-forms.ts";

/**
 * Shorter texts occur by chance so often that masking them would garble the log. The control plane accepts no shorter
 * secret.
 */
export const SHORTEST_BYTES = 4;
/**
 * A form of at least this many bytes is also found with line breaks in it, since encoders and terminals fold long
 * lines.
 */
const FOLDED_BYTES = 16;
/** The lines of a longer value are found only as they are, so that a huge value costs little before its step starts. */
const MAX_LOOSE_LINES = 200;

/** One sequence of bytes. */
export interface SecretForm {
  readonly bytes: Buffer;
  /** Whether line breaks after its first {@link SHORTEST_BYTES} bytes are ignored. */
  readonly mayFold: boolean;
}

/**
 * Many sequences of bytes at once: for each character of the secret, the ways in which one kind of tool may write it,
 * first of all the character itself. So it does not matter which characters a tool escapes.
 */
export interface LooseForm {
  readonly characters: readonly (readonly Buffer[])[];
  /** Whether line breaks between the characters are ignored, after the first {@link SHORTEST_BYTES} bytes. */
  readonly mayFold: boolean;
  /** Bytes of its longest sequence, without line breaks that are ignored. */
  readonly maxBytes: number;
  /** Bytes of the text with no character escaped: one of the forms of {@link formsOf}. */
  readonly plainBytes: number;
}

/**
 * All forms of a value without the white space around it; a text that holds the whole value holds these too. Each line
 * of the value is a secret of its own, since tools put margins around lines.
 */
export function formsOf(value: string): readonly SecretForm[] {
  const forms = [...textsOf(value).map((text) => Buffer.from(text)), ...encodedOf(Buffer.from(value.trim()))];
  return forms.filter(isLongEnough).map((bytes) => ({ bytes, mayFold: mayFold(bytes) }));
}

/**
 * The forms of the same texts with characters escaped: by a backslash or a quote (shells, JSON, programming languages),
 * by a percent sign (URLs), and by an ampersand (HTML, XML).
 */
export function looseFormsOf(value: string): readonly LooseForm[] {
  const texts = textsOf(value).filter((text) => isLongEnough(Buffer.from(text)));
  return texts.slice(0, 1 + MAX_LOOSE_LINES).flatMap((text) => {
    const characters = Array.from(text);
    const kinds = [escapedForms, percentForms, htmlForms].map((formsOfOne) => characters.map(formsOfOne));
    // A text without a character that this kind of tool escapes is found as it is.
    const used = kinds.filter((kind) => kind.some((alternatives) => alternatives.length > 1));
    const plain = Buffer.from(text);
    return used.map((characters) => {
      const maxBytes = maxBytesOf(characters);
      return { characters, mayFold: mayFold(plain), maxBytes, plainBytes: plain.length };
    });
  });
}

/**
 * The different sequences of {@link SHORTEST_BYTES} bytes with which the form may begin. The text of the form must have
 * that many bytes.
 */
export function prefixesOf({ characters }: LooseForm): readonly Buffer[] {
  const found = new Map<number, Buffer>();
  const extend = (before: Buffer, index: number): void => {
    if (before.length >= SHORTEST_BYTES) {
      found.set(before.readUInt32BE(0), before.subarray(0, SHORTEST_BYTES));
      return;
    }
    for (const alternative of characters[index] ?? []) extend(Buffer.concat([before, alternative]), index + 1);
  };
  extend(Buffer.alloc(0), 0);
  return [...found.values()];
}

function maxBytesOf(characters: LooseForm["characters"]): number {
  let sum = 0;
  for (const alternatives of characters) sum += Math.max(...alternatives.map(({ length }) => length));
  return sum;
}

function textsOf(value: string): readonly string[] {
  const whole = value.trim();
  return [...new Set([whole, ...whole.split(/[\r\n]+/).map((line) => line.trim())])];
}

function isLongEnough(bytes: Buffer): boolean {
  return bytes.length >= SHORTEST_BYTES;
}

function mayFold(bytes: Buffer): boolean {
  return bytes.length >= FOLDED_BYTES && !bytes.includes("\n") && !bytes.includes("\r");
}

/** The forms that encode all bytes: hexadecimal and base64. */
function encodedOf(bytes: Buffer): readonly Buffer[] {
  const hex = bytes.toString("hex");
  return [...[...new Set([hex, hex.toUpperCase()])].flatMap(withLateStarts), ...base64Of(bytes)];
}

/**
 * The base64 encoding of any text that holds these bytes contains one of these forms. There is one form for each
 * position of the bytes in a group of three, in both alphabets, without the characters at the ends that depend on
 * neighbouring bytes.
 */
function base64Of(bytes: Buffer): readonly Buffer[] {
  return [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6)];
    const encodings = new Set(["base64", "base64url"].map((name) => padded.toString(name as "base64").slice(from, to)));
    return [...encodings].flatMap(withLateStarts);
  });
}

/**
 * A long form is also listed without its first one to three characters: if a folded line ends within the first four
 * characters, one of these shorter forms starts on the next line.
 */
function withLateStarts(text: string): readonly Buffer[] {
  const form = Buffer.from(text);
  const starts = form.length < 4 * FOLDED_BYTES ? [0] : [...Array(SHORTEST_BYTES).keys()];
  return starts.map((start) => form.subarray(start));
}
