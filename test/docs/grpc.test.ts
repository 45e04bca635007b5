/** docs/grpc.md lists every operation of the services, and the HTTP routes and use cases that it names exist. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { AgentService } from "../../proto/generated/agent/v1/agent.ts";
import { GatewayService } from "../../proto/generated/gateway/v1/gateway.ts";
import { PipelineService } from "../../proto/generated/pipeline/v1/pipeline.ts";
import { StepRunService } from "../../proto/generated/steprun/v1/steprun.ts";
import { StreamService } from "../../proto/generated/stream/v1/stream.ts";
import { readTable } from "../support/markdown-table.ts";
import { readPage, ROOT, under } from "../support/pages.ts";

const PAGE = readPage("docs/grpc.md");
const SECTIONS = {
  "pipeline.v1 and steprun.v1": [PipelineService, StepRunService],
  "stream.v1": [StreamService],
  "agent.v1 and gateway.v1": [AgentService, GatewayService],
};

const namesIn = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

describe("the page of gRPC operations", () => {
  for (const [section, services] of Object.entries(SECTIONS)) {
    it(`has every operation of ${section}, and no other`, () => {
      const operations = services
        .flatMap((service) => Object.values(service))
        .map(({ path }) => path.split("/").at(-1));
      expect(readTable(under(PAGE, section)).flatMap(([cell]) => namesIn(cell!))).to.have.members(operations);
    });
  }

  it("names services by their full names", () => {
    const named = readTable(PAGE).flatMap(([cell]) => namesIn(cell!));
    const served = Object.values(SECTIONS)
      .flat()
      .map((service) => Object.values(service)[0]!.path.split("/")[1]);
    expect(named).to.include.members(served);
  });

  it("names use cases that exist in the code", () => {
    const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => readFileSync(join(ROOT, "src", path), "utf8"))
      .join("\n");
    const cases = readTable(under(PAGE, "pipeline.v1 and steprun.v1")).flatMap(([, , cell]) => namesIn(cell!));
    for (const name of cases) expect(sources, name).to.match(new RegExp(`export (async )?function ${name}[(<]`));
  });

  it("names routes that exist in the page of the HTTP API", () => {
    const routes = readPage("docs/http-api.md");
    const cells = readTable(under(PAGE, "pipeline.v1 and steprun.v1")).flatMap(([, cell]) => namesIn(cell!));
    const paths = cells.map((text) => /(?:\.\.\.)?\/\S+/.exec(text)?.[0]).filter((path) => path?.includes("/", 1));
    for (const path of paths) expect(routes).to.include(path!.replace("...", ""));
  });
});
