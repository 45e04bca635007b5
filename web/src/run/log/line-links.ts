/** Links to lines: `#L10` and `#L10-L20`. Pure. */

export interface Lines {
  readonly from: number;
  readonly to: number;
}

export function readLines(hash: string): Lines | null {
  const match = /^#L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash);
  if (match === null) return null;
  const [one, other] = [Number(match[1]), Number(match[2] ?? match[1])];
  return one < 1 || other < 1 ? null : { from: Math.min(one, other), to: Math.max(one, other) };
}

export function linesHash({ from, to }: Lines): string {
  return from === to ? `#L${from}` : `#L${from}-L${to}`;
}
