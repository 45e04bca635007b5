import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Server } from "node:net";
import { expect } from "chai";
import { AgentBench } from "../test-agent.ts";

const LINES = 20_000;

describe("the data that an agent sends", () => {
  let bench: AgentBench;
  let counter: Server;
  let bytes: number;
  let address: string;

  beforeEach(async () => {
    bench = await new AgentBench().open();
    bytes = 0;
    counter = createServer((client) => {
      const gateway = createConnection(bench.gateway.port, "127.0.0.1");
      client.on("data", (chunk) => (bytes += chunk.length));
      client.pipe(gateway).pipe(client);
      for (const socket of [client, gateway]) socket.on("error", () => {});
      // A connection that is reset ends no pipe.
      client.on("close", () => gateway.destroy());
      gateway.on("close", () => client.destroy());
    });
    counter.listen(0, "127.0.0.1");
    await once(counter, "listening");
    address = `127.0.0.1:${(counter.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await bench.end();
    counter.close();
    await once(counter, "close");
  });

  it("is compressed in large batches: log lines take at most a quarter of their size", async () => {
    await bench.start({ address });
    const text = "compile src/module/file.ts into dist/module/file.js";
    bench.gateway.dispatch({ script: `i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo "${text} $i"; done` });
    const lines = await bench.gateway.logOf(BigInt(LINES));
    expect(lines.map(({ content }) => content)).to.deep.equal(
      Array.from({ length: LINES }, (_, at) => `${text} ${at + 1}`),
    );
    const size = lines.reduce((sum, { content }) => sum + content.length, 0);
    expect(bytes).to.be.below(size / 4);
  });

  it("is not compressed when it is small: a single line and a heartbeat are readable on the wire", async () => {
    let wire = "";
    counter.on("connection", (client) => client.on("data", (chunk) => (wire += chunk.toString("latin1"))));
    await bench.start({ address });
    bench.gateway.dispatch({ script: "echo a line of its own" });
    await bench.gateway.logOf(1n);
    expect(wire).to.include("a line of its own");
    expect(wire).to.include(bench.gateway.hellos[0]!.bootId);
  });
});
