/**
 * A search for secret values in any bytes, in all forms that a value can take. It shares no code with the agent's
 * masking.
 */

/** A secret value where it may not be. A leak does not hold the value itself. */
export interface Leak {
  /** The secret and the version of its value. */
  readonly secret: string;
  /** The form of the value, such as `in base64`. */
  readonly form: string;
  readonly place: string;
  /** The position within the place; empty when it is not known. */
  readonly detail: string;
}

/** Scans the content of a place. A place may be scanned in several calls. */
export type Scan = (place: string, content: Buffer | string, detail?: string) => void;

/** This many consecutive bytes of a form of a value are a leak: so many do not match by chance. */
const WINDOW_BYTES = 12;
const GRAM_BYTES = 4;
/** Each window contains a gram that begins at a multiple of this number. */
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

  /**
   * Adds a value to search for. It must have at least 12 bytes, and no part of it may be likely to appear elsewhere.
   */
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

  readonly scan: Scan = (place, content, detail = "") => {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    this.#places.add(place);
    this.#bytes += bytes.length;
    for (const { secret, name } of this.#formsIn(bytes)) {
      const key = `${secret} ${place}`;
      if (this.#leaks.has(key)) continue;
      this.#leaks.set(key, { secret, form: name, place: this.#redact(place), detail: this.#redact(detail) });
    }
  };

  *#formsIn(bytes: Buffer): Generator<Form> {
    for (let at = 0; at + GRAM_BYTES <= bytes.length; at += STRIDE) {
      for (const [form, offset] of this.#grams.get(bytes.readUInt32LE(at)) ?? []) {
        if (commonAround(bytes, at, form.bytes, offset) >= WINDOW_BYTES) yield form;
      }
    }
  }

  #redact(name: string): string {
    return this.#formsIn(Buffer.from(name)).next().done ? name : "a name that holds a secret value";
  }

  /** All leaks: each value at most once for each place. */
  get leaks(): readonly Leak[] {
    return [...this.#leaks.values()];
  }

  get amount(): { readonly values: number; readonly places: number; readonly bytes: number } {
    return { values: this.#values, places: this.#places.size, bytes: this.#bytes };
  }
}

/** Length of the run of equal bytes around the two positions. */
function commonAround(bytes: Buffer, at: number, form: Buffer, offset: number): number {
  let before = 0;
  while (before < Math.min(at, offset) && bytes[at - before - 1] === form[offset - before - 1]) before++;
  let behind = 0;
  const most = Math.min(bytes.length - at, form.length - offset);
  while (behind < most && bytes[at + behind] === form[offset + behind]) behind++;
  return before + behind;
}

/**
 * The forms that docs/definition.md promises to mask. A single line of a value needs no form: the search finds parts of
 * a value.
 */
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

/**
 * The part of a text's base64 that depends only on the value, when the value begins `before` bytes after the start of a
 * group of three bytes.
 */
function base64Within(value: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
  return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

function urlSafe(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_");
}
