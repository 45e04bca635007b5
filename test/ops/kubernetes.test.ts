/** The manifests for Kubernetes, against the published schemas and the program's own settings. */
import { readdirSync, readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import { expect } from "chai";
import { parse } from "yaml";
import { KNOWN_VARIABLES, NODE_ROLES, readAgentConfig } from "../../src/settings/config.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
// oxlint-disable-next-line typescript/no-explicit-any -- the schemas say what the objects are
type Manifest = any;

interface Schemas {
  readonly kinds: Readonly<Record<string, string>>;
  readonly $defs: object;
}

describe("manifests for Kubernetes", () => {
  const { kinds, $defs } = JSON.parse(read("test/fixtures/kubernetes/schemas.json")) as Schemas;
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strict: false });
  // Formats of numbers in Kubernetes' own words.
  for (const format of ["int32", "int64", "double", "byte", "int-or-string"]) ajv.addFormat(format, true);
  formats.default(ajv);
  ajv.addSchema({ $id: "k8s", $defs });
  const files = readdirSync(new URL("../../ops/kubernetes/", import.meta.url)).filter((name) => name.endsWith(".yaml"));
  const objects: readonly (readonly [name: string, object: Manifest])[] = files.flatMap((file) => {
    const object = parse(read(`ops/kubernetes/${file}`), { merge: true }) as Manifest;
    return (object.kind === "List" ? object.items : [object]).map(
      (one: Manifest) => [`${file}: ${one.kind} ${one.metadata.name ?? one.metadata.generateName}`, one] as const,
    );
  });

  function validatorOf(kind: string): ValidateFunction {
    expect(kinds, kind).to.have.property(kind);
    return ajv.compile({ $ref: `k8s#/$defs/${kinds[kind]}` });
  }

  for (const [name, object] of objects) {
    it(`are as the schema of their kind says, which refuses other keys: ${name}`, () => {
      const validate = validatorOf(object.kind);
      validate(object);
      expect(validate.errors).to.equal(null);
      const changed = structuredClone(object);
      changed.metadata.labls = {};
      expect(validate(changed)).to.equal(false);
    });
  }

  it("find a wrong key of a container deep in them", () => {
    const [, scaled] = objects.find(([, { kind }]) => kind === "ScaledJob")!;
    const changed = structuredClone(scaled);
    changed.spec.jobTargetRef.template.spec.containers[0].comand = ["sh"];
    expect(validatorOf("ScaledJob")(changed)).to.equal(false);
  });

  it("start the program with roles and settings that it knows, as a user without rights", () => {
    const pods = objects.flatMap(([name, { spec }]) => {
      const template = spec?.jobTargetRef?.template ?? spec?.template;
      return template === undefined ? [] : [[name, template.spec] as const];
    });
    const roles: string[] = [];
    for (const [name, pod] of pods) {
      const [container] = pod.containers as Manifest[];
      const [command, ...args] = container.args as string[];
      expect(pod.securityContext, name).to.include({ runAsNonRoot: true });
      expect(container.securityContext, name).to.deep.include({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
      });
      const mounted = container.volumeMounts.map((mount: Manifest) => mount.name);
      expect(
        pod.volumes.map((volume: Manifest) => volume.name),
        name,
      ).to.have.members(mounted);
      if (command === "serve") roles.push(args.at(-1)!);
      else expect(args.filter((arg) => arg.startsWith("--"))).to.include("--once");
      const env = (container.env ?? []) as { name: string; value?: string }[];
      const known = env.filter((one) => one.name !== "MILLRACE_KEDA_TOKEN");
      expect(KNOWN_VARIABLES, name).to.include.members(known.map((one) => one.name));
      if (command === "agent") {
        const values = known.flatMap((one) => (one.value === undefined ? [] : [[one.name, one.value] as const]));
        expect(() => readAgentConfig(Object.fromEntries(values)), name).not.to.throw();
      }
    }
    expect(roles).to.have.members([...NODE_ROLES]);
    const [, config] = objects.find(([, { kind }]) => kind === "ConfigMap")!;
    expect(KNOWN_VARIABLES).to.include.members(Object.keys(config.data));
  });

  it("scale agents by the labels that these agents have, with a token from a variable that they have", () => {
    const [, { spec }] = objects.find(([, { kind }]) => kind === "ScaledJob")!;
    const [{ metadata }] = spec.triggers;
    const env = new Map<string, Manifest>(
      spec.jobTargetRef.template.spec.containers[0].env.map((one: Manifest) => [one.name, one]),
    );
    expect(metadata.labels).to.equal(env.get("MILLRACE_AGENT_LABELS").value);
    expect(env.get(metadata.tokenFromEnv).valueFrom).to.have.property("secretKeyRef");
  });
});
