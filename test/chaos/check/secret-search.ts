/** Looks for values of secrets in anything, in the forms in which they may show. It knows nothing of how the agent masks them. */

/** A value that stands where it may not; the value itself is not told. */
export interface Leak {
  /** Which value: the secret and its version. */
  readonly secret: string;
  /** How it is written there. */
  readonly form: string;
  readonly place: string;
  /** Where within the place; empty when that is not known. */
  readonly detail: string;
}

/** Takes everything that was found somewhere; a place may be named again and again. */
export type Look = (place: string, content: Buffer | string, detail?: string) => void;

/** So many consecutive bytes of a value in one of its forms are a finding: by chance they stand nowhere. */
const WINDOW_BYTES = 12;
const GRAM_BYTES = 4;
/** Each window has a gram that begins at a multiple of this. */
const STRIDE = WINDOW_BYTES - GRAM_BYTES + 1;

interface Form {
  readonly secret: string;
  readonly name: string;
  readonly bytes: Buffer;
}

export class SecretSearch {
  readonly #grams = new Map<number, (readonly [form: Form, at: number])[]>();
  readonly #places = new Set<string>();
  readonly #leaks = new Map<string, Leak>();
  #values = 0;
  #bytes = 0;

  /** From now on the value is looked for. It has at least 12 bytes, and nothing in it is likely to stand elsewhere. */
  add(secret: string, value: string): void {
    this.#values++;
    for (const [name, text] of formsOf(value)) {
      const form: Form = { secret, name, bytes: Buffer.from(text) };
      for (let at = 0; at + GRAM_BYTES <= form.bytes.length; at++) {
        const gram = form.bytes.readUInt32LE(at);
        const alike = this.#grams.get(gram);
        if (alike === undefined) this.#grams.set(gram, [[form, at]]);
        else alike.push([form, at]);
      }
    }
  }

  readonly look: Look = (place, content, detail = "") => {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    this.#places.add(place);
    this.#bytes += bytes.length;
    for (const { secret, name } of this.#formsIn(bytes)) {
      const key = `${secret} ${place}`;
      if (this.#leaks.has(key)) continue;
      this.#leaks.set(key, { secret, form: name, place: this.#tellable(place), detail: this.#tellable(detail) });
    }
  };

  *#formsIn(bytes: Buffer): Generator<Form> {
    for (let at = 0; at + GRAM_BYTES <= bytes.length; at += STRIDE) {
      for (const [form, offset] of this.#grams.get(bytes.readUInt32LE(at)) ?? []) {
        if (commonAround(bytes, at, form.bytes, offset) >= WINDOW_BYTES) yield form;
      }
    }
  }

  #tellable(name: string): string {
    return this.#formsIn(Buffer.from(name)).next().done ? name : "what has a value in its name";
  }

  /** Each value at most once for each place. */
  get leaks(): readonly Leak[] {
    return [...this.#leaks.values()];
  }

  get amount(): { readonly values: number; readonly places: number; readonly bytes: number } {
    return { values: this.#values, places: this.#places.size, bytes: this.#bytes };
  }
}

/** How many bytes around the two positions are the same in both, one after the other. */
function commonAround(bytes: Buffer, at: number, form: Buffer, offset: number): number {
  let before = 0;
  while (before < Math.min(at, offset) && bytes[at - before - 1] === form[offset - before - 1]) before++;
  let behind = 0;
  const most = Math.min(bytes.length - at, form.length - offset);
  while (behind < most && bytes[at + behind] === form[offset + behind]) behind++;
  return before + behind;
}

/** The forms that docs/definition.md promises to mask; a line is found as a part of the whole. */
function formsOf(value: string): readonly (readonly [name: string, text: string])[] {
  const component = encodeURIComponent(value);
  const json = JSON.stringify(value).slice(1, -1);
  return [
    ["as it is", value],
    ["in base64", base64Within(value, 0)],
    ["in base64 behind one byte", base64Within(value, 1)],
    ["in base64 behind two bytes", base64Within(value, 2)],
    ...[0, 1, 2].map((before) => ["in base64 for URLs", urlSafe(base64Within(value, before))] as const),
    ["as in a URL", component],
    ["as in a form", component.replaceAll("%20", "+").replaceAll("'", "%27")],
    ["as in JSON", json],
    ["as in JSON within HTML", json.replaceAll(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)],
    ["as quoted in a shell", value.replaceAll("'", `'\\''`)],
    ["as quoted twice in a shell", value.replaceAll("'", `'"'"'`)],
  ];
}

/** What the base64 of any text has in common that holds the value behind `before` bytes, and those in groups of three. */
function base64Within(value: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
  return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

function urlSafe(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_");
}
