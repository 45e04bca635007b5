/** What an agent with a container engine must do with containers. The user names an image that the agent has or can pull. */
import { IMAGE_DIGEST } from "../../domain/containers/image-references.ts";
import { ENGINE_LABEL } from "../../domain/containers/containers.ts";
import { type Bench, check, describe, job, shell } from "./bench.ts";
import type { ConformanceCase } from "./conformance-case.ts";

/** Pulling may take long. */
const PULL_MS = 300_000;

export const CONTAINER_CASES: readonly ConformanceCase[] = [
  {
    name: "runs the steps of a job in one container, with the workspace, outputs and exit codes",
    async run(bench) {
      const labels = (await bench.agent())?.labels ?? {};
      check(Object.hasOwn(labels, ENGINE_LABEL), `the agent tells its container engine by the label ${ENGINE_LABEL}`);
      const steps = [
        shell('echo made >file; touch /millrace-inside; echo "version=7" >>"$MILLRACE_OUTPUT"', { id: "make" }),
        shell('cat file; ls /millrace-inside; echo "$V"', { env: { V: "${{ steps.make.outputs.version }}" } }),
        shell("exit 9"),
      ];
      const container = { image: imageOf(bench), env: { V: "of the container" } };
      const detail = await bench.ended(await bench.run([job("inside", steps, { container })]), PULL_MS);
      const [made, read, failed] = detail.jobs[0]!.steps;
      check(
        made!.status === "success" && failed!.exitCode === 9,
        `two steps succeed, and the third fails with exit code 9; ${describe(detail)}`,
      );
      const lines = (await bench.lines(read!)).slice(-3);
      check(
        lines.join() === "made,/millrace-inside,7",
        `the second step finds what the first has left, not ${lines.join(", ")}`,
      );
      const outside = await bench.probe("ls /millrace-inside 2>/dev/null || echo absent");
      check(outside.at(-1) === "absent", "a step without a container does not see the files of a container");
    },
  },
  {
    name: "tells the digest of the image of a container before it uses it, once for a run",
    async run(bench) {
      const image = imageOf(bench);
      const container = { container: image };
      const jobs = [
        job("first", [shell("true")], container),
        job("second", [shell("true")], { ...container, needs: ["first"] }),
      ];
      const runId = await bench.run(jobs);
      const detail = await bench.ended(runId, PULL_MS);
      check(detail.status === "success", `both jobs succeed; ${describe(detail)}`);
      const [pinned, ...others] = await bench.context.stores.runImages.of(runId);
      check(pinned !== undefined && others.length === 0, "the agent calls PinImage for the image of the run");
      check(
        pinned.image === image && IMAGE_DIGEST.test(pinned.digest),
        "it names the image as the dispatch does, and a digest",
      );
      return pinned.digest;
    },
  },
];

function imageOf({ containerImage }: Bench): string {
  if (containerImage === null) throw new Error("the cases with containers need an image");
  return containerImage;
}
