import { Writable } from "node:stream";
import type { ServerInterceptingCallInterface, ServerMethodDefinition } from "@grpc/grpc-js";
import { expect } from "chai";
import { resetDeafCallers } from "../../src/grpc/deaf-callers.ts";

const DEFINITION = { requestStream: true, responseStream: true } as ServerMethodDefinition<unknown, unknown>;

/** A call of the library whose stream takes what it has got only when it is told to. */
function startCall(highWaterMark: number) {
  const writes: string[][] = [];
  let taken = (): void => {};
  const stream = new Writable({
    highWaterMark,
    write: (chunk: Buffer, _, done) => {
      writes.push([chunk.toString()]);
      taken = done;
    },
    writev: (chunks, done) => {
      writes.push(chunks.map(({ chunk }) => String(chunk)));
      taken = done;
    },
  });
  const library = {
    stream,
    sendMetadata: () => {},
    sendMessage: (message: string, callback: () => void) => void stream.write(message, callback),
  };
  const call = resetDeafCallers({ monotonic: () => 0 })(
    DEFINITION,
    library as unknown as ServerInterceptingCallInterface,
  );
  const asked: string[] = [];
  const send = (message: string) => call.sendMessage(message, () => asked.push(message));
  return { send, asked, writes, take: () => taken() };
}

const tick = () => new Promise<void>((resolve) => process.nextTick(resolve));

describe("messages of a gRPC stream", () => {
  it("leave together when they are sent before the running code ends", async () => {
    const { send, asked, writes } = startCall(1_000);
    for (const message of ["a", "b", "c"]) send(message);
    expect(asked, "none waits until the one before it has left").to.deep.equal(["a", "b", "c"]);
    expect(writes).to.deep.equal([]);
    await tick();
    expect(writes).to.deep.equal([["a", "b", "c"]]);
  });

  it("wait for a caller who does not take them", async () => {
    const { send, asked, take } = startCall(2);
    send("a");
    send("b");
    expect(asked).to.deep.equal(["a"]);
    await tick();
    take();
    await tick();
    expect(asked, "each is called back once").to.deep.equal(["a", "b"]);
  });
});
