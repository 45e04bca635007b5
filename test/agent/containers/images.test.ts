/** Images of a registry, pulled by a real engine: credentials, progress, and one digest for each run. */
import { readdirSync } from "node:fs";
import { expect } from "chai";
import type { Container, Dispatch } from "../../../proto/generated/agent/v1/agent.ts";
import { Container as ContainerMessage } from "../../../proto/generated/agent/v1/agent.ts";
import type { PinImageRequest } from "../../../proto/generated/gateway/v1/gateway.ts";
import { agentLabel } from "../../../src/agent/containers/job-containers.ts";
import { agentKeyOf } from "../../../src/agent/containers/open-engine.ts";
import { openTestEngine, testRoot } from "../../support/container-engine.ts";
import { ImageRegistry } from "../../support/image-registry.ts";
import { until } from "../../support/until.ts";
import { AgentBench } from "../test-agent.ts";

const ACCOUNT = "ann:hunter2-of-the-registry";
const engine = await openTestEngine();

if (engine !== undefined)
  describe("an image of a registry", function () {
    this.timeout(120_000);
    let bench: AgentBench;
    let registry: ImageRegistry;
    let root: Buffer;
    let image: string;
    let pins: PinImageRequest[];

    before(async () => (root = await testRoot()));
    beforeEach(async () => {
      registry = await ImageRegistry.start(ACCOUNT);
      image = `${registry.host}/team/tools:1`;
      bench = await new AgentBench().open();
      pins = [];
      const pinned = new Map<string, string>();
      bench.gateway.onPinImage = ({ request }, callback) => {
        pins.push(request);
        if (!pinned.has(request.image)) pinned.set(request.image, request.digest);
        callback(null, { digest: pinned.get(request.image)! });
      };
      await bench.start({ containers: { engine: engine.kind, images: [] } });
    });
    afterEach(async () => {
      await bench.end();
      await removeImages();
      await registry.stop();
    });

    /** As on another agent, which has none of them. */
    async function removeImages(): Promise<void> {
      const ids = (
        await engine!.ask("images", "-q", "--no-trunc", "--filter", `reference=${registry.host}/*/*`)
      ).trim();
      if (ids !== "") await engine!.ask("rmi", "-f", ...new Set(ids.split("\n")));
    }

    let steps = 0;
    /** The step of a job of its own. */
    async function step(fields: Partial<Container>, others: Partial<Dispatch> = {}) {
      const number = ++steps;
      const [stepRunId, jobId] = [`step_${number}`, `job_${number}`];
      const credential = fields.credential ?? ACCOUNT;
      bench.gateway.dispatch({
        stepRunId,
        jobId,
        token: BigInt(number),
        container: ContainerMessage.create({ image, credential, ...fields }),
        secrets: [credential],
        script: 'echo "release $RELEASE"',
        ...others,
      });
      const end = await bench.gateway.endOf(stepRunId);
      const log = (await bench.gateway.logOf(end.lastLine, stepRunId)).map(({ content }) => content);
      bench.gateway.send({ $case: "release", value: { jobId, succeeded: true } });
      const filter = `label=${agentLabel(agentKeyOf(bench.dataDir))}`;
      await until("the end of its containers", async () => (await engine!.ask("ps", "-aq", "--filter", filter)) === "");
      return { end, log };
    }

    it("is pulled with the credential of a secret, and the log tells the progress and the digest", async () => {
      const digest = registry.tag("team/tools:1", { root, env: ["RELEASE=1"] });
      const refused = await step({ credential: "ann:wrong-password" });
      expect(refused.end.phase).to.equal("STEP_PHASE_FAILED");
      expect(refused.end.reason).to.match(/^cannot pull the image .*(?:unauthorized|authentication)/i);
      const { end, log } = await step({});
      expect(end.phase, end.reason).to.equal("STEP_PHASE_SUCCEEDED");
      expect(log.join("\n")).to.match(
        /millrace: pulling the image .*\n(?:.*\n)*.*(?:Copying blob|Pull complete)(?:.*\n)*.*release 1$/,
      );
      expect(log).to.include(`millrace: the image ${image} is ${image.replace(/:1$/, "")}@${digest}`);
      expect(log.join("\n")).not.to.include("hunter2");
      const left = readdirSync("/dev/shm").filter((name) => name.includes(agentKeyOf(bench.dataDir)));
      expect(left, "credentials in memory").to.deep.equal([]);
    });

    it("is the same one for all steps of a run, though its tag moves and agents do not have it", async () => {
      const first = registry.tag("team/tools:1", { root, env: ["RELEASE=1"] });
      expect((await step({})).log.at(-1)).to.equal("release 1");
      expect(pins).to.have.length(1);
      expect(pins[0]).to.deep.include({ image, digest: first, stepRunId: `step_${steps}` });
      await removeImages();
      const second = registry.tag("team/tools:1", { root, env: ["RELEASE=2"] });
      const beside = await step({ pull: "PULL_POLICY_ALWAYS" });
      expect(pins.map(({ digest }) => digest)).to.deep.equal([first, second]);
      expect(beside.log.at(-1), "another agent has found the first one before").to.equal("release 1");
      await removeImages();
      registry.asked.length = 0;
      const later = await step({ digest: second });
      expect(later.log.at(-1)).to.equal("release 2");
      expect(registry.asked.join("\n")).to.include(second).and.not.to.match(/ 1$/m);
      const unknown = await step({ digest: `sha256:${"0".repeat(64)}`, pull: "PULL_POLICY_NEVER" });
      expect(unknown.end.reason).to.match(
        /^another step of this run has found sha256:0+ for the image .*`pull` is never$/,
      );
      expect(pins).to.have.length(2);
    });
  });
