/** The ways in which tools write one character of a text. Pure. */

/** The characters whose forms are remembered, for each kind of tool. */
const MAX_REMEMBERED = 5_000;

type FormsOfCharacter = (character: string) => readonly Buffer[];

/** What follows a backslash to stand for a character. */
const ESCAPES: Readonly<Record<string, readonly string[]>> = {
  "\0": ["0"],
  "\x07": ["a"],
  "\b": ["b"],
  "\t": ["t"],
  "\n": ["n"],
  "\v": ["v"],
  "\f": ["f"],
  "\r": ["r"],
  "\x1b": ["e", "E"],
};

/** How a character is written between quotes that end before it and begin again after it, or by doubling it. */
const QUOTED: Readonly<Record<string, readonly string[]>> = {
  "'": [`'\\''`, `'"'"'`, "''"],
  '"': ['""'],
  $: ["$$"],
  "%": ["%%"],
  "\n": ["\r\n"],
};

const ENTITIES: Readonly<Record<string, readonly string[]>> = {
  "&": ["amp"],
  "<": ["lt"],
  ">": ["gt"],
  '"': ["quot"],
  "'": ["apos"],
};

/**
 * As shells, JSON and programming languages write it. When bash traces `[[`, it prints each character of a quoted pattern
 * behind a backslash; `printf %q` does so for some characters; `$'...'` has octal numbers.
 */
export const escapedForms: FormsOfCharacter = remembered((character) => {
  const named = (ESCAPES[character] ?? []).map((name) => `\\${name}`);
  const short = [`\\${character}`, ...(QUOTED[character] ?? []), ...named];
  if (isPlain(character)) return short;
  const bytes = [...Buffer.from(character)];
  const code = character.codePointAt(0)!;
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return [
    ...short,
    bytes.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join(""),
    ...inHex("\\x", bytes, 2),
    ...inHex("\\u", units, 4),
    ...inHex("\\U", [code], 8),
    ...(code < 256 ? inHex("\\x", [code], 2) : []),
  ];
});

/** As URLs have it. Which characters are escaped differs from encoder to encoder. */
export const percentForms: FormsOfCharacter = remembered((character) => {
  if (isPlain(character)) return [];
  return [...inHex("%", [...Buffer.from(character)], 2), ...(character === " " ? ["+"] : [])];
});

/** As HTML and XML have it. */
export const htmlForms: FormsOfCharacter = remembered((character) => {
  if (isPlain(character)) return [];
  const code = character.codePointAt(0)!;
  const digits = [2, 4].flatMap((length) => inHex("&#x", [code], length));
  const numbers = [`&#${code}`, `&#${String(code).padStart(3, "0")}`, ...digits];
  return [...numbers, ...(ENTITIES[character] ?? []).map((name) => `&${name}`)].map((text) => `${text};`);
});

/**
 * Adds the character itself, and remembers the forms of each character: a long secret has the same characters again and
 * again.
 */
function remembered(othersOf: (character: string) => readonly string[]): FormsOfCharacter {
  const known = new Map<string, readonly Buffer[]>();
  return (character) => {
    const found = known.get(character) ?? bytesOf([character, ...othersOf(character)], character);
    if (known.size < MAX_REMEMBERED) known.set(character, found);
    return found;
  };
}

/** Without doubles. A backslash may also stand before each byte of the character: bash does not know it in every locale. */
function bytesOf(texts: readonly string[], character: string): readonly Buffer[] {
  const forms = [...new Set(texts)].map((text) => Buffer.from(text));
  const bytes = [...Buffer.from(character)];
  const isEscaped = texts.includes(`\\${character}`) && bytes.length > 1;
  return isEscaped ? [...forms, Buffer.from(bytes.flatMap((byte) => [0x5c, byte]))] : forms;
}

/** Each number with at least `length` digits behind `sign`, in lower and in upper case. */
function inHex(sign: string, numbers: readonly number[], length: number): readonly string[] {
  const small = numbers.map((number) => number.toString(16).padStart(length, "0"));
  return [small, small.map((digits) => digits.toUpperCase())].map((all) => all.map((one) => sign + one).join(""));
}

/** A to Z and digits, which no tool escapes but with a backslash. */
function isPlain(character: string): boolean {
  return /^[A-Za-z0-9]$/.test(character);
}
