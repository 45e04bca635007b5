import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import { fixedKeys, masterKey } from "../../src/secrets/master-keys.ts";
import { seal, unseal, UnreadableSecretError } from "../../src/secrets/sealing.ts";
import type { SealedSecret } from "../../src/stores/ports/secrets.ts";

describe("a sealed secret", () => {
  const key = masterKey(randomBytes(32));
  const other = masterKey(randomBytes(32));
  const keys = fixedKeys([other, key]);
  const of = { projectId: newId("prj"), pipelineId: newId("pl"), name: "KEY" };
  const VALUE = "hunter22 größe 🚂";
  const sealed = (fields: Partial<SealedSecret> = {}): SealedSecret => ({
    ...of,
    ...seal(key, of, VALUE),
    version: 1,
    createdAt: 1,
    createdBy: "ann",
    updatedAt: 1,
    updatedBy: "ann",
    ...fields,
  });
  const refusal = (secret: SealedSecret, ring = keys) => unseal(ring, secret).catch((error: unknown) => error);

  it("is opened by the key that its record names, the newest or an older one", async () => {
    expect(await unseal(keys, sealed())).to.equal(VALUE);
    expect(await unseal(keys, sealed(seal(other, of, VALUE)))).to.equal(VALUE);
    for (const value of ["", "x".repeat(65_536)])
      expect(await unseal(keys, sealed(seal(key, of, value)))).to.equal(value);
  });

  it("is another text each time, and contains nothing of its value", () => {
    const texts = Array.from({ length: 20 }, () => seal(key, of, VALUE).sealed);
    expect(new Set(texts).size).to.equal(20);
    for (const text of texts) expect(Buffer.from(text, "base64").toString("latin1")).not.to.include("hunter");
  });

  it("does not open under another name, pipeline or project, or with a changed bit", async () => {
    const bytes = Buffer.from(sealed().sealed, "base64");
    const flipped = [...bytes.keys()].map((at) => {
      const copy = Buffer.from(bytes);
      copy[at]! ^= 1;
      return sealed({ sealed: copy.toString("base64") });
    });
    for (const moved of [
      sealed({ name: "key" }),
      sealed({ pipelineId: null }),
      sealed({ pipelineId: newId("pl") }),
      sealed({ projectId: newId("prj") }),
      sealed({ keyId: other.id }),
      ...["", "AAAA", bytes.subarray(0, 20).toString("base64")].map((text) => sealed({ sealed: text })),
      ...flipped,
    ]) {
      const error = await refusal(moved);
      expect(error).to.be.instanceOf(UnreadableSecretError).with.property("message").that.includes("is damaged");
    }
  });

  it("gets an error that names its key when the key is missing", async () => {
    const error = await refusal(sealed(), fixedKeys([other]));
    expect(error)
      .to.be.instanceOf(UnreadableSecretError)
      .with.property(
        "message",
        `the secret KEY cannot be read: it is sealed with the master key ${key.id}, which was not found`,
      );
    expect(key.id)
      .to.match(/^[0-9a-f]{16}$/)
      .and.not.equal(other.id);
    expect(Buffer.from(key.bytes).toString("hex")).not.to.include(key.id);
  });
});
