/** Types for the parts of picomatch that are used here: the package has no types of its own. */
declare module "picomatch" {
  interface Picomatch {
    /** Returns a function that is true for each path that one of the patterns matches. */
    (patterns: string | readonly string[], options?: { readonly dot?: boolean }): (path: string) => boolean;
    /** `base` is the part of a pattern before its first wildcard. */
    scan(pattern: string): { readonly base: string; readonly isGlob: boolean };
  }
  const picomatch: Picomatch;
  export default picomatch;
}
