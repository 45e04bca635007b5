import { Writable } from "node:stream";
import { expect } from "chai";
import type { WebSocket } from "ws";
import { OutgoingBudget } from "../../src/app/outgoing-budget.ts";
import { ViewerSender } from "../../src/ws/viewer-sender.ts";
import { silentLog } from "../support/kernel-ports.ts";

describe("messages to a viewer", () => {
  it("leave together when they are sent before the running code ends", async () => {
    const writes: string[][] = [];
    const connection = new Writable({
      writev: (chunks, done) => {
        writes.push(chunks.map(({ chunk }) => String(chunk)));
        done();
      },
    });
    const socket = {
      OPEN: 1,
      readyState: 1,
      bufferedAmount: 0,
      on: () => {},
      send: (text: string, sent: () => void) => connection.write(text, sent),
    } as unknown as WebSocket;
    const clock = { monotonic: () => 0 };
    const bounds = { stallMs: 1_000, budget: new OutgoingBudget(clock, {}) };
    const sender = new ViewerSender({ socket, connection: connection as never }, bounds, { log: silentLog, clock });
    sender.sendText("a");
    sender.sendText("b");
    expect(writes).to.deep.equal([]);
    await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(writes).to.deep.equal([["a", "b"]]);
  });
});
