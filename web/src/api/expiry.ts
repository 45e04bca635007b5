/** A session that has expired: the way to the login and back to the same place. */

const RETURN_KEY = "millrace.return";

/** The address of the login that leads back to `place`. */
export function loginAddress({ pathname, search }: { readonly pathname: string; readonly search: string }): string {
  return `/login?${new URLSearchParams({ next: pathname + search }).toString()}`;
}

let hold: (() => void) | undefined;

/**
 * A reader who writes a long text is told that the session has ended, and stays until {@link goToLogin}. Call the answer to
 * end it.
 */
export function holdBeforeLogin(onExpired: () => void): () => void {
  hold = onExpired;
  return () => {
    if (hold === onExpired) hold = undefined;
  };
}

/** The session has ended: leaves the page, or tells the part of it that holds the reader. */
export function leaveForLogin(): void {
  if (hold === undefined) goToLogin();
  else hold();
}

/** Leaves the page. The server keeps no fragment of an address, so the browser keeps it. */
export function goToLogin(): void {
  const { pathname, search, hash } = location;
  if (hash !== "") sessionStorage.setItem(RETURN_KEY, JSON.stringify({ at: pathname + search, hash }));
  location.replace(loginAddress(location));
}

/** Puts back the fragment of the address that {@link leaveForLogin} has left. */
export function returnFromLogin(): void {
  const kept = sessionStorage.getItem(RETURN_KEY);
  if (kept === null) return;
  sessionStorage.removeItem(RETURN_KEY);
  const { at, hash } = JSON.parse(kept) as { readonly at: string; readonly hash: string };
  if (location.hash === "" && at === location.pathname + location.search) {
    history.replaceState(history.state, "", at + hash);
  }
}
