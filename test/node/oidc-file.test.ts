import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { MillraceError } from "../../src/domain/errors.ts";
import { readOidcFile } from "../../src/node/oidc-file.ts";

describe("the file of OpenID Connect providers", () => {
  let folder: string;
  before(async () => void (folder = await mkdtemp(join(tmpdir(), "millrace-oidc-"))));
  after(() => rm(folder, { recursive: true, force: true }));

  const written = async (value: unknown): Promise<string> => {
    const path = join(folder, "oidc.json");
    await writeFile(path, typeof value === "string" ? value : JSON.stringify(value));
    return path;
  };
  const CORP = { id: "corp", name: "Corp", issuer: "https://id.corp.example", clientId: "millrace" };
  const refusal = async (value: unknown): Promise<string> => {
    const error: unknown = await readOidcFile(await written(value)).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(MillraceError).with.property("reason", "malformed_request");
    return (error as MillraceError).message;
  };

  it("is not needed, and fills in what is usual", async () => {
    expect(await readOidcFile(null)).to.deep.equal([]);
    expect(await readOidcFile(await written({ providers: [CORP] }))).to.deep.equal([
      {
        ...CORP,
        scopes: ["openid", "profile", "email"],
        groupsClaim: "groups",
        roles: {},
        defaultRole: "viewer",
        autoProvision: false,
        clockToleranceSeconds: 30,
      },
    ]);
  });

  it("names a file with the secret, from its own folder", async () => {
    await writeFile(join(folder, "secret"), "hush\n");
    const [provider] = await readOidcFile(await written({ providers: [{ ...CORP, clientSecretFile: "secret" }] }));
    expect(provider).to.include({ clientSecret: "hush" }).and.not.to.have.property("clientSecretFile");
    expect(await refusal({ providers: [{ ...CORP, clientSecretFile: "missing" }] })).to.match(
      /missing.* cannot be read \(ENOENT\)/,
    );
    await writeFile(join(folder, "empty"), "\n");
    expect(await refusal({ providers: [{ ...CORP, clientSecretFile: "empty" }] })).to.include("is empty");
  });

  it("is refused with all its problems and without its secrets", async () => {
    const wrong = {
      ...CORP,
      issuer: "http://id.corp.example",
      clientSecret: "hush",
      role: {},
      defaultRole: "king",
      scopes: ["email"],
    };
    const message = await refusal({ providers: [wrong] });
    for (const words of [
      "/providers/0/issuer must begin with https://",
      "/providers/0/role is not",
      "/providers/0/defaultRole",
    ]) {
      expect(message).to.include(words);
    }
    expect(message).not.to.include("hush");
    expect(await refusal({ providers: [CORP, CORP] })).to.include("must have different ids");
    expect(await refusal({ providers: [{ ...CORP, scopes: ["email"] }] })).to.include("must contain openid");
    const both = { ...CORP, clientSecret: "hush", clientSecretFile: "secret" };
    expect(await refusal({ providers: [both] })).to.include("exclude each other");
    expect(await refusal('{ "clientSecret": hush }'))
      .to.include("is not JSON")
      .and.not.to.include("hush");
  });

  it("may name a provider without TLS on this machine alone", async () => {
    for (const issuer of ["http://127.0.0.1:9000", "http://localhost:9000/realms/a", "http://[::1]:9000"]) {
      expect(await readOidcFile(await written({ providers: [{ ...CORP, issuer }] })), issuer).to.have.length(1);
    }
    for (const issuer of ["http://localhost.evil.example", "http://127.0.0.1.evil.example", "ftp://id.example"]) {
      expect(await refusal({ providers: [{ ...CORP, issuer }] }), issuer).to.include("/providers/0/issuer");
    }
  });
});
