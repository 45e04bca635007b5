import { expect } from "chai";
import { connect, createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

describe("serve", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  beforeEach(async () => {
    world = await ProcessWorld.create();
  });
  afterEach(() => world.end());

  it("starts all roles, gets ready, answers what it has begun, and leaves nothing behind after SIGTERM", async () => {
    const node = await world.serve("edge,gateway,worker");
    for (const url of [`http://${node.http}/readyz`, `http://${node.metrics}/metrics`]) {
      const answer = await fetch(url);
      // A body that is not read keeps its connection open, also when the server has ended.
      await answer.text();
      expect(answer.status, url).to.equal(200);
    }
    const [, token] = /administrator token \(shown only now\): (mrt_\S+)\n/.exec(node.process.stdout) ?? [];
    expect(token).to.be.a("string");
    const call = await beginCall(node.http!, token!, JSON.stringify({ name: "begun" }));
    node.kill("SIGTERM");
    await until("the node takes no further call", async () => !(await isListening(node.http!)));
    expect(await call.end()).to.match(/^HTTP\/1\.1 200 OK\r\n[^]*"name":"begun"/);
    expect(await node.exited).to.deep.equal({ code: 0, signal: null });
    expect(await world.alive()).to.deep.equal([]);
  });

  it("shows a token only at the first start", async () => {
    for (const shown of [true, false]) {
      const node = await world.serve("edge,gateway,worker");
      expect(node.process.stdout.includes("administrator token")).to.equal(shown);
      node.kill("SIGTERM");
      await node.exited;
    }
  });

  it("says which port is in use and how to choose another, and stops everything", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    try {
      for (const variable of ["MILLRACE_HTTP_ADDRESS", "MILLRACE_GRPC_ADDRESS", "MILLRACE_METRICS_ADDRESS"]) {
        const { port } = holder.address() as AddressInfo;
        const refused = world.start(["serve"], {
          env: {
            MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
            MILLRACE_GRPC_ADDRESS: "127.0.0.1:0",
            MILLRACE_METRICS_ADDRESS: "127.0.0.1:0",
            MILLRACE_DATA_DIR: join(world.folder, "data"),
            [variable]: `127.0.0.1:${port}`,
          },
        });
        expect((await refused.exited).code, variable).to.equal(1);
        expect(refused.stderr).to.contain(String(port)).and.to.contain(variable);
        expect(await world.alive()).to.deep.equal([]);
      }
    } finally {
      holder.close();
    }
  });

  it("refuses another number of shards than that of the deployment", async () => {
    const node = await world.serve("worker");
    node.kill("SIGTERM");
    await node.exited;
    const other = world.start(["serve", "--roles", "worker"], {
      env: {
        MAILBOX_SHARDS: "8",
        MILLRACE_METRICS_ADDRESS: "127.0.0.1:0",
        MILLRACE_DATA_DIR: join(world.folder, "data"),
      },
    });
    expect((await other.exited).code).to.equal(1);
    expect(other.stderr).to.contain("MAILBOX_SHARDS is 8, but this deployment has 64 shards");
  });

  it("lets only one process use an embedded Redis on a data directory", async () => {
    const node = await world.serve("edge,gateway,worker");
    const second = world.start(["serve"], { env: { MILLRACE_DATA_DIR: join(world.folder, "data") } });
    expect((await second.exited).code).to.equal(1);
    expect(second.stderr).to.contain(`already running (pid ${node.pid}) on ${join(world.folder, "data")}`);
  });

  it("ends its Redis when it is killed", async () => {
    const node = await world.serve("edge,gateway,worker");
    node.kill("SIGKILL");
    await node.exited;
    await until("Redis ended", async () => (await world.alive()).length === 0);
  });
});

/** Begins to create a pipeline: resolves when the server has the head of the call. `end` sends the body. */
async function beginCall(address: string, token: string, body: string): Promise<{ end(): Promise<string> }> {
  const [host, port] = address.split(":") as [string, string];
  const socket = connect(Number(port), host).setEncoding("utf8");
  let answer = "";
  socket.on("data", (text: string) => (answer += text));
  socket.write(
    `POST /api/v1/pipelines HTTP/1.1\r\nHost: ${address}\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n`,
  );
  await until("the server asks for the body", () => answer === "HTTP/1.1 100 Continue\r\n\r\n");
  return {
    async end() {
      answer = "";
      socket.write(body);
      await once(socket, "close");
      return answer;
    },
  };
}

async function isListening(address: string): Promise<boolean> {
  const [host, port] = address.split(":") as [string, string];
  const socket = connect(Number(port), host);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
