/** The administrator's token, which a node shows once: at its first start that succeeds. */
import { expect } from "chai";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { openTestNodes, type TestNodes } from "../support/nodes.ts";

describe("the token of a first start", () => {
  let nodes: TestNodes;
  before(async () => void (nodes = await openTestNodes({ shards: 2 })));
  after(() => nodes?.close());

  it("is shown by the next start when a port was in use, and then never again", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    try {
      const address = `127.0.0.1:${(other.address() as AddressInfo).port}`;
      const taken = { MILLRACE_HTTP_ADDRESS: address };
      const failure = await nodes.start("edge,gateway,worker", taken).then(String, String);
      expect(failure).to.contain(`${address.split(":")[1]!} on 127.0.0.1 is in use`);
    } finally {
      other.close();
    }
    const node = await nodes.start("edge");
    expect(node.adminToken).to.match(/^mrt_/);
    expect(await node.firstToken()).to.equal(null);
  });
});
