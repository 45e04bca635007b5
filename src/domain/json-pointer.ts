/** JSON pointers: the place of a value within a body or a definition, as one text. Source: RFC 6901. */

/** A path of keys and indices as a JSON pointer; `""` for the empty path, which is the whole value. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The path of a JSON pointer: the inverse of {@link toPointer}, except that indices come back as texts. */
export function fromPointer(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Whether `pointer` names the place that `outer` names, or a place inside it. */
export function isWithin(pointer: string, outer: string): boolean {
  return pointer === outer || pointer.startsWith(`${outer}/`);
}
