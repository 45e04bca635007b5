/** The forms in which a secret may show: as it is, line by line, and as the usual tools encode it. Pure. */

/** What is shorter occurs by chance so often that masking it would only garble the log; what the plane takes is not. */
export const SHORTEST_BYTES = 4;
/** A form of so many bytes is found also where line breaks are put into it: encoders and terminals fold long lines. */
const FOLDED_BYTES = 16;

export interface SecretForm {
  readonly bytes: Buffer;
  /** Whether line breaks behind its first {@link SHORTEST_BYTES} bytes do not count. */
  readonly mayFold: boolean;
}

/**
 * All forms of a value without the white space around it: wherever the whole shows, these do. Each line of several is a
 * secret by itself, since tools put margins around lines.
 */
export function formsOf(value: string): readonly SecretForm[] {
  const whole = value.trim();
  const lines = whole.split(/[\r\n]+/).map((line) => line.trim());
  const texts = [...new Set([whole, ...lines, ...quoted(whole), ...urlEncoded(whole), ...jsonEscaped(whole)])];
  const forms = [...texts.map((text) => Buffer.from(text)), ...base64Of(Buffer.from(whole))];
  return forms
    .filter((bytes) => bytes.length >= SHORTEST_BYTES)
    .map((bytes) => ({ bytes, mayFold: bytes.length >= FOLDED_BYTES && !bytes.includes("\n") }));
}

/** As shells show it when they trace. */
function quoted(text: string): readonly string[] {
  return [`'\\''`, `'"'"'`].map((quote) => text.replaceAll("'", quote));
}

function urlEncoded(text: string): readonly string[] {
  const component = encodeURIComponent(text);
  const strict = component.replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  return [component, strict, strict.replaceAll("%20", "+")];
}

/** Some writers of JSON escape what HTML could take for its own. */
function jsonEscaped(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1);
  return [json, json.replaceAll(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)];
}

/**
 * The base64 of anything that holds these bytes holds one of these: three for where the bytes stand in a group of three,
 * without the characters at the ends that depend on what is beside; in both alphabets. Where one begins at the end of a
 * folded line, the next of its beginnings is met on the line that follows.
 */
function base64Of(bytes: Buffer): readonly Buffer[] {
  return [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6)];
    const encodings = new Set(["base64", "base64url"].map((name) => padded.toString(name as "base64").slice(from, to)));
    return [...encodings].flatMap((text) => {
      const form = Buffer.from(text);
      const starts = form.length < 4 * FOLDED_BYTES ? [0] : [...Array(SHORTEST_BYTES).keys()];
      return starts.map((start) => form.subarray(start));
    });
  });
}
