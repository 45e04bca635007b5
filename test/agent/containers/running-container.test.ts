import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Container } from "../../../proto/generated/agent/v1/agent.ts";
import { ContainerEngine, type EngineAnswer, type EngineOptions } from "../../../src/agent/containers/engine.ts";
import { RunningContainer } from "../../../src/agent/containers/running-container.ts";
import { openTestEngine, TEST_IMAGE } from "../../support/container-engine.ts";

const engine = await openTestEngine();
const LATE_ANSWERS = 2;

/** A real engine that notes the start of a container later than the container's first process writes. */
class LateEngine extends ContainerEngine {
  questions = 0;

  override ask(args: readonly string[], options?: EngineOptions): Promise<EngineAnswer> {
    const isQuestion = args[0] === "inspect" && args.includes("{{.State.Running}}");
    if (isQuestion && ++this.questions <= LATE_ANSWERS)
      return Promise.resolve({ code: 0, stdout: "false\n", stderr: "" });
    return super.ask(args, options);
  }
}

if (engine !== undefined)
  describe("a running container", function () {
    this.timeout(120_000);

    it("is there for steps only when the engine has noted that it runs", async () => {
      const late = new LateEngine(engine.kind);
      const folder = await mkdtemp(join(tmpdir(), "millrace-container-"));
      const permitFile = join(folder, "permit");
      await writeFile(permitFile, "");
      const name = `millrace-test-${randomBytes(6).toString("hex")}`;
      const { uid, gid } = { uid: process.getuid!(), gid: process.getgid!() };
      const place = {
        engine: late,
        name,
        labels: [],
        folders: [],
        hosts: [],
        owner: { uid, gid },
        say: () => {},
        mark: "a-mark-of-tests",
        permitFile,
      };
      const wanted = Container.create({ image: TEST_IMAGE });
      const container = await RunningContainer.start(TEST_IMAGE, wanted, place, new AbortController().signal);
      try {
        expect(late.questions).to.equal(LATE_ANSWERS + 1);
        expect((await container.runAsRoot("exit 7")).code).to.equal(7);
      } finally {
        await container.remove();
        await rm(folder, { recursive: true, force: true });
      }
    });
  });
