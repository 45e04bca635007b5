/** How often a property is tried with random values. */

/** What `npm run properties` sets. */
const IS_WHOLE = process.env["PROPERTIES"] === "whole";
const SHARE = 5;

/** All of these tries in `npm run properties`, and a share of them in `npm test`. */
export function tries(all: number): number {
  return IS_WHOLE ? all : Math.ceil(all / SHARE);
}
