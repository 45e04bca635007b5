/** The target of a request, in the one form that the router reads: a path with an optional query. */

/**
 * The path and the query that a request line names. A proxy may send the whole address (`http://host/path`), and that
 * form is shortened. Undefined for a target that is no address at all.
 */
export function originForm(target: string): string | undefined {
  const [withoutFragment] = target.split("#", 1) as [string];
  if (withoutFragment.startsWith("/") || withoutFragment === "*") return withoutFragment;
  if (!/^https?:\/\//i.test(withoutFragment) || !URL.canParse(withoutFragment)) return undefined;
  // Cut out of the text: a URL object would resolve dot segments and so name another path than the caller did.
  const [, path = ""] = /^[^/]*\/\/[^/?]*(.*)$/s.exec(withoutFragment) ?? [];
  return path.startsWith("/") ? path : `/${path}`;
}
