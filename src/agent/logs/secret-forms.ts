/** The forms in which a secret may appear: unchanged, line by line, and as common tools encode it. Pure. */

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

export interface SecretForm {
  readonly bytes: Buffer;
  /** Whether line breaks after its first {@link SHORTEST_BYTES} bytes are ignored. */
  readonly mayFold: boolean;
}

/**
 * All forms of a value without the white space around it; a text that holds the whole value holds these too. Each line
 * of the value is a secret of its own, since tools put margins around lines.
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

/** As shells print it when they trace commands. */
function quoted(text: string): readonly string[] {
  return [`'\\''`, `'"'"'`].map((quote) => text.replaceAll("'", quote));
}

function urlEncoded(text: string): readonly string[] {
  const component = encodeURIComponent(text);
  const strict = component.replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  return [component, strict, strict.replaceAll("%20", "+")];
}

/** Some JSON encoders also escape characters that have a meaning in HTML. */
function jsonEscaped(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1);
  return [json, json.replaceAll(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)];
}

/**
 * The base64 encoding of any text that holds these bytes contains one of these forms. There is one form for each
 * position of the bytes in a group of three, in both alphabets, without the characters at the ends that depend on
 * neighbouring bytes. A long form is also listed without its first one to three characters: if a folded line ends
 * within the first four characters, one of these shorter forms starts on the next line.
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
