/** Work in pieces: a generator that yields wherever it may be interrupted for other work. */
import { loopShare } from "./loop-share.ts";

export type Pieces<T> = Generator<void, T, void>;

/** Does all pieces, and lets other work of this process come between them. */
export async function doInTurns<T>(work: Pieces<T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await loopShare.enter();
  }
}
