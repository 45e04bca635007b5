/** The conformance cases with containers, passed by the agent of this project. `CONTAINERS=whole` alone, where an engine works. */
import { expect } from "chai";
import type { ConformanceReport } from "../../../src/cli/conformance/report.ts";
import { openTestEngine, TEST_IMAGE } from "../../support/container-engine.ts";
import { ProcessWorld, PROGRAM } from "../../support/processes.ts";

const engine = process.env["CONTAINERS"] === "whole" ? await openTestEngine() : undefined;

if (engine !== undefined)
  describe("the conformance cases with containers", function () {
    this.timeout(180_000);
    let world: ProcessWorld;
    beforeEach(async () => void (world = await ProcessWorld.create()));
    afterEach(() => world.end());

    it("are passed by the agent of this project", async () => {
      const options = ["--json", "--only", "container", "--container-image", TEST_IMAGE];
      const { CONTAINERS_CONF = "", DOCKER_HOST } = process.env;
      const env = { CONTAINERS_CONF, ...(DOCKER_HOST === undefined ? {} : { DOCKER_HOST }) };
      const suite = world.start(
        ["agent-conformance", ...options, "--", process.execPath, PROGRAM, "agent", "--container-engine", engine.kind],
        { env },
      );
      const { code } = await suite.exited;
      const report = JSON.parse(suite.stdout) as ConformanceReport;
      expect(
        report.cases.filter(({ outcome }) => outcome !== "passed"),
        suite.stderr,
      ).to.deep.equal([]);
      expect(report.passed).to.be.at.least(2);
      expect(code).to.equal(0);
    });
  });
