/** The client as a package of its own: what it is made of, and where it runs. */
import { expect } from "chai";
import { build } from "esbuild";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { MillraceClient, Schemas } from "../../../clients/typescript/src/index.ts";

const ROOT = fileURLToPath(new URL("../../../clients/typescript", import.meta.url));

describe("the package of the client", () => {
  it("uses no module of Node and no other package, so that it runs in a browser", async () => {
    const { metafile, errors } = await build({
      absWorkingDir: ROOT,
      entryPoints: ["src/index.ts"],
      bundle: true,
      platform: "browser",
      format: "esm",
      write: false,
      metafile: true,
      logLevel: "silent",
    });
    expect(errors).to.deep.equal([]);
    expect(Object.keys(metafile.inputs).filter((file) => !file.startsWith("src/"))).to.deep.equal([]);
  });

  it("takes its types of the API from the generated file alone", () => {
    const document = JSON.parse(readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8")) as {
      readonly components: { readonly schemas: object };
    };
    const names = new Set(Object.keys(document.components.schemas));
    const declared = readdirSync(`${ROOT}/src`)
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => [...readFileSync(`${ROOT}/src/${file}`, "utf8").matchAll(/^(?:export )?interface (\w+)/gm)])
      .map(([, name]) => name!);
    expect(declared).to.include("ClientOptions");
    expect(declared.filter((name) => names.has(name))).to.deep.equal([]);
  });

  it("has types by which the compiler refuses what the API does not have", () => {
    // The check of the types reads this; it is not run. A line that is no error is an error below its comment.
    const calls = async (client: MillraceClient) => {
      const run: Schemas["RunDetail"] = await client.get("/pipelines/runs/{runId}", { path: { runId: "run" } });
      // @ts-expect-error -- no such path
      await client.get("/nothing");
      // @ts-expect-error -- the path has no such method
      await client.put("/pipelines/{pipelineId}/trigger", { path: { pipelineId: "p" } });
      // @ts-expect-error -- the parameter of the path is missing
      await client.get("/pipelines/runs/{runId}");
      // @ts-expect-error -- the query has no such parameter
      await client.get("/pipelines", { query: { nam: "x" } });
      // @ts-expect-error -- the query needs a parameter
      await client.delete("/projects/{projectId}/caches", { path: { projectId: "p" } });
      // @ts-expect-error -- the body needs a name
      await client.post("/pipelines", { body: {} });
      // @ts-expect-error -- the answer has no such field
      const nothing: unknown = run.nothing;
      for await (const pipeline of client.items("/pipelines")) {
        const name: string = pipeline.name;
        expect([name, nothing]).to.have.length(2);
      }
    };
    expect(calls).to.be.a("function");
  });
});
