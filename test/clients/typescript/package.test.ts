/** The client as a package of its own: what it is made of, and where it runs. */
import { expect } from "chai";
import { build } from "esbuild";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

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
});
