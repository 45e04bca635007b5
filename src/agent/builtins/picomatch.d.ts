/** What is used of picomatch, which brings no types. */
declare module "picomatch" {
  interface Picomatch {
    /** A function that is true for the paths which one of the patterns matches. */
    (patterns: string | readonly string[], options?: { readonly dot?: boolean }): (path: string) => boolean;
    /** `base` is the part of a pattern before its first wildcard. */
    scan(pattern: string): { readonly base: string; readonly isGlob: boolean };
  }
  const picomatch: Picomatch;
  export default picomatch;
}
