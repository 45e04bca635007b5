/** Where a browser goes after a login: a path of this server, never another server. */

const NOWHERE = "http://local.invalid";

/** The path that `text` names, or `otherwise` when it names anything else. */
export function localPath(text: string, otherwise: string): string {
  if (!text.startsWith("/") || !URL.canParse(text, NOWHERE)) return otherwise;
  const { origin, pathname, search } = new URL(text, NOWHERE);
  // A browser reads a path that begins with two slashes as the name of a server.
  return origin === NOWHERE && !pathname.startsWith("//") ? pathname + search : otherwise;
}
