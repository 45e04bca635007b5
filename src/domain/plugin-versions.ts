/**
 * Versions of plugins, and references that match several of them. Source: https://semver.org/spec/v2.0.0.html, without
 * build metadata.
 */

const NUMBER = "(?:0|[1-9]\\d{0,8})";
const WORD = `(?:${NUMBER}|\\d*[A-Za-z-][\\dA-Za-z-]*)`;
const VERSION = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${WORD}(?:\\.${WORD})*)?$`);
const BEGINNING = new RegExp(`^${NUMBER}(?:\\.${NUMBER})?$`);

/** True for `1.2.3` and `1.2.3-rc.1`; at most 64 characters. */
export function isVersion(text: string): boolean {
  return text.length <= 64 && VERSION.test(text);
}

/** Negative when `a` is older than `b`, 0 when they are equal, else positive; both must be versions. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [partsOf(a), partsOf(b)];
  for (const [index, number] of one.numbers.entries()) {
    const difference = number - other.numbers[index]!;
    if (difference !== 0) return difference;
  }
  if (one.words.length === 0 || other.words.length === 0) return other.words.length - one.words.length;
  for (const [index, word] of one.words.entries()) {
    const difference = compareWords(word, other.words[index]);
    if (difference !== 0) return difference;
  }
  return one.words.length - other.words.length;
}

/**
 * The newest of `versions` that `reference` matches; undefined when none does. `1.2.3` matches itself; `1` and `1.2`
 * match versions that begin with them and are not pre-releases. A `v` before the number is ignored.
 */
export function newestMatching(reference: string, versions: readonly string[]): string | undefined {
  const text = reference.replace(/^v/, "");
  if (isVersion(text)) return versions.find((version) => version === text);
  if (!BEGINNING.test(text)) return undefined;
  const matching = versions.filter((version) => version.startsWith(`${text}.`) && !version.includes("-"));
  return newest(matching);
}

/** The newest version; undefined for an empty list. */
export function newest(versions: readonly string[]): string | undefined {
  return versions.toSorted(compareVersions).at(-1);
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly words: readonly string[] } {
  const dash = version.indexOf("-");
  const numbers = (dash === -1 ? version : version.slice(0, dash)).split(".").map(Number);
  return { numbers, words: dash === -1 ? [] : version.slice(dash + 1).split(".") };
}

/** Numbers sort before words, and a missing part sorts before both. */
function compareWords(word: string, other: string | undefined): number {
  if (other === undefined) return 1;
  const [isNumber, isOtherNumber] = [/^\d+$/.test(word), /^\d+$/.test(other)];
  if (isNumber && isOtherNumber) return Number(word) - Number(other);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return word === other ? 0 : word < other ? -1 : 1;
}
