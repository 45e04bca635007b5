/** Tests of docker-compose.yml. */
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { expect } from "chai";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { parse } from "yaml";
import { KNOWN_VARIABLES, NODE_ROLES, readAgentConfig, readNodeConfig } from "../src/settings/config.ts";

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly healthcheck?: object;
  readonly restart?: string;
  readonly container_name?: string;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
}

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

describe("the Compose file", () => {
  const text = read("docker-compose.yml");
  const compose = parse(text, { merge: true }) as ComposeFile;
  const services = Object.entries(compose.services);
  const ours = services.filter(([, { build }]) => build !== undefined);

  it("is valid against the published schema", () => {
    const schema = JSON.parse(read("test/fixtures/compose-spec.json")) as { $schema?: string };
    // Ajv knows draft 7 only by its http address.
    delete schema.$schema;
    const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strict: false });
    formats.default(ajv);
    const validate = ajv.compile(schema);
    validate(compose);
    expect(validate.errors).to.equal(null);
    expect(validate({ services: { edge: { image: 1 } } }), "an invalid file").to.equal(false);
  });

  it("runs each role in its own services, and an agent, from one image", () => {
    const commands = ours.map(([, { command }]) => command!.join(" "));
    expect(commands).to.have.members([...NODE_ROLES.map((role) => `serve --roles ${role}`), "agent"]);
    expect(new Set(ours.map(([, { image }]) => image)).size).to.equal(1);
  });

  it("sets only variables and values that the program accepts", () => {
    for (const [name, { command, environment = {} }] of ours) {
      expect(KNOWN_VARIABLES, name).to.include.members(Object.keys(environment));
      const set = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, interpolate(value)]));
      const readConfig = command![0] === "agent" ? readAgentConfig : readNodeConfig;
      expect(() => readConfig(set), name).not.to.throw();
    }
  });

  it("requires every secret, and holds none", () => {
    for (const [, name, rest] of text.matchAll(/\$\{(\w*(?:PASSWORD|KEY|TOKEN)\w*)([^}]*)\}/g)) {
      expect(rest, name).to.match(/^:\?./);
    }
    for (const [name, { environment = {} }] of services) {
      for (const [variable, value] of Object.entries(environment)) {
        if (/PASSWORD|KEY|TOKEN|AUTH/.test(variable))
          expect(value, `${name} ${variable}`).to.match(/^\$\{\w+:\?[^}]+\}$/);
      }
    }
  });

  it("can be scaled: it has no fixed names, and ranges of host ports", () => {
    for (const [name, { container_name, ports = [] }] of services) {
      expect(container_name, name).to.equal(undefined);
      for (const port of ports) expect(port, name).to.match(/:(\d+)-(\d+):\d+$/);
    }
  });

  it("checks the health of every service, and restarts services that end", () => {
    for (const [name, { healthcheck, restart }] of services) {
      expect(healthcheck, name).to.be.an("object");
      expect(restart, name).to.equal("unless-stopped");
    }
  });

  it("makes Redis and MongoDB unreachable for steps and for other machines", () => {
    const stores = services.filter(([, { build }]) => build === undefined);
    expect(stores.map(([name]) => name)).to.have.members(["redis", "mongodb"]);
    for (const [name, { networks, ports }] of stores) {
      expect(networks, name).to.deep.equal(["stores"]);
      expect(ports, name).to.equal(undefined);
    }
    expect(compose.networks["stores"]).to.deep.equal({ internal: true });
    expect(compose.services["agent"]!.networks).not.to.include("stores");
  });

  it("makes Redis persist its data and evict none", () => {
    const command = compose.services["redis"]!.command!.join(" ");
    expect(command).to.contain("--appendonly yes").and.to.contain("--maxmemory-policy noeviction");
    expect(compose.services["redis"]!.volumes).to.deep.equal(["redis:/data"]);
  });
});

describe("the Dockerfile", () => {
  it("copies every script that the build runs, with the files that it imports", () => {
    const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) =>
      sources!.split(" "),
    );
    const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
    const run = [...scripts["build"]!.matchAll(/node (\S+\.mjs)/g)].map(([, script]) => script!);
    const configured = [...scripts["build"]!.matchAll(/tsc -p (\S+)/g)].map(([, file]) => file!);
    expect(run).to.have.length.above(1);
    const needed = new Set([...configured, ...run]);
    for (const file of needed) {
      if (!file.endsWith(".mjs")) continue;
      for (const [, imported] of read(file).matchAll(/^import .* from "(\.[^"]+)";$/gm)) {
        needed.add(join(dirname(file), imported!));
      }
    }
    const missing = [...needed].filter(
      (file) => !copied.some((source) => file === source || file.startsWith(`${source}/`)),
    );
    expect(missing).to.deep.equal([]);
  });
});

/** Sets each variable as a user would: to 32 bytes in hexadecimal digits, or to its default. */
function interpolate(value: string): string {
  return value.replaceAll(/\$\{(\w+)(?::([?-])([^}]*))?\}/g, (_, _name, kind: string | undefined, rest: string) =>
    kind === "-" ? rest : "ab".repeat(32),
  );
}
