/**
 * Answers the requests of a stream in their order, while several of them are worked on: as long as one waits for the disk,
 * the next ones are read, and the store writes them together.
 */
import type { Duplex } from "./calls.ts";

/** How much is worked on at once. One request is, whatever its size. */
export interface WorkBounds<Request> {
  readonly requests: number;
  readonly bytes: number;
  readonly bytesOf: (request: Request) => number;
}

/**
 * Resolves when the caller has ended its stream and every request is answered. Rejects as soon as one of the requests
 * cannot be answered; answers to later requests are not sent then.
 */
export async function answerInOrder<Request, Response>(
  { requests, write, hungUp }: Pick<Duplex<Request, Response>, "requests" | "write" | "hungUp">,
  answerTo: (request: Request) => Promise<Response>,
  bounds: WorkBounds<Request>,
): Promise<void> {
  /** Settles when all answers so far are written. */
  let written: Promise<void> = Promise.resolve();
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => (fail = reject));
  const inHand: { readonly bytes: number; readonly written: Promise<void> }[] = [];
  let bytesInHand = 0;

  const writeNext = async (before: Promise<void>, answer: Promise<Response>): Promise<void> => {
    await before;
    const response = await answer;
    if (!hungUp.aborted) await write(response);
  };
  const answerAll = async (): Promise<void> => {
    for (let next = await requests.next(); next.done !== true; next = await requests.next()) {
      const bytes = bounds.bytesOf(next.value);
      while (inHand.length >= bounds.requests || (inHand.length > 0 && bytesInHand + bytes > bounds.bytes)) {
        const oldest = inHand.shift()!;
        await oldest.written;
        bytesInHand -= oldest.bytes;
      }
      const answer = answerTo(next.value);
      // Thrown by `writeNext`, which may come to it later.
      answer.catch(() => {});
      written = writeNext(written, answer);
      written.catch(fail);
      inHand.push({ bytes, written });
      bytesInHand += bytes;
      if (hungUp.aborted) return;
    }
    await written;
  };
  await Promise.race([failed, answerAll()]);
}
