/** Agents that register with identity tokens: of a real provider, and of this installation itself. */
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { generateKeyPair, SignJWT } from "jose";
import { currentKey } from "../../src/app/identity/token-keys.ts";
import { WorkloadIdentities } from "../../src/app/oidc/workload-identities.ts";
import { claimsMatch, workloadFile } from "../../src/app/oidc/workload-settings.ts";
import { asId, type TenantId } from "../../src/domain/ids.ts";
import { startIdentityProvider, type TestIdentityProvider } from "../support/identity-provider.ts";
import { bearer, Gateway, invoke, refusal } from "./gateway.ts";

const AUDIENCE = "https://ci.example.com";
const OWN_ADDRESS = "https://own.example";

describe("agents with identity tokens", () => {
  let provider: TestIdentityProvider;
  let gateway: Gateway;
  before(async () => {
    provider = await startIdentityProvider();
    provider.serve([]);
    const { issuers } = workloadFile.parse({
      issuers: [
        { id: "gpu", issuer: provider.issuer, audience: AUDIENCE, claims: { sub: "another" }, labels: { gpu: "yes" } },
        {
          id: "cloud",
          issuer: provider.issuer,
          audience: AUDIENCE,
          claims: { sub: "work*", pools: "linux", place: { zone: ["eu-1", "eu-2"] } },
          labels: { pool: "cloud" },
          reach: { tenantId: "tnt_one" },
        },
        { id: "own", issuer: "self", audience: "agents", claims: { project_id: "default" } },
      ],
    });
    gateway = await Gateway.start({
      workloads: (context) => new WorkloadIdentities(issuers, { ...context, publicUrl: OWN_ADDRESS }),
    });
  });
  after(async () => {
    await gateway?.stop();
    await provider?.close();
  });

  const register = (token: string, name = "vm-1") =>
    invoke(gateway.agents(), "register", { name, labels: { pool: "mine" }, slots: 1, version: "1" }, bearer(token));
  const refused = async (token: string, name?: string) => {
    const { code, details } = await refusal(register(token, name));
    expect(details).not.to.include(token);
    return `${status[code]} ${details}`;
  };

  it("get the labels and the reach of the first entry of their issuer that fits", async () => {
    const { agentId, agentToken } = await register(await provider.machineToken(AUDIENCE));
    const stored = (await gateway.stores.identity.findAgent(asId(agentId)))!;
    expect(stored.trustedLabels).to.deep.equal({ pool: "cloud" });
    expect(stored.reach).to.deep.equal({ tenantId: asId<TenantId>("tnt_one"), projectIds: null });
    expect(stored.labelledBy).to.include({ kind: "registrationToken", name: "cloud" });
    const beat = { bootId: "b", sequence: 1n, held: [], heldJobIds: [], takesNoJobs: "" };
    expect((await invoke(gateway.agents(), "heartbeat", beat, bearer(agentToken))).sequence).to.equal(1n);
    const page = { limit: 1, descending: true };
    const [entry] = await gateway.stores.audit.page({ area: "tenants", operation: "registerAgent" }, page);
    expect(entry!.actor).to.include({ kind: "registration", id: "cloud", name: "workload" });
  });

  it("are refused with the reason when the token is for others, has expired, or comes from another signer", async () => {
    expect(await refused(await provider.machineToken("https://other.example"))).to.include("claim aud does not count");
    provider.skewMs = -3_600_000;
    const late = await provider.machineToken(AUDIENCE).finally(() => (provider.skewMs = 0));
    expect(await refused(late)).to.match(/^UNAUTHENTICATED .*it has expired/);
    const { privateKey } = await generateKeyPair("RS256");
    const claims = { sub: "workload", pools: ["linux"], place: { zone: "eu-1" } };
    const forged = new SignJWT(claims).setProtectedHeader({ alg: "RS256" }).setIssuer(provider.issuer);
    const forgery = await forged.setAudience(AUDIENCE).setExpirationTime("1h").sign(privateKey);
    expect(await refused(forgery)).to.include("no key of the issuer has signed it");
    const plain = Buffer.from('{"alg":"none"}').toString("base64url");
    expect(await refused(`${plain}.${forgery.split(".")[1]}.x`)).to.include("UNAUTHENTICATED");
    const secret = await new SignJWT(claims)
      .setProtectedHeader({ alg: "HS256" })
      .setIssuer(provider.issuer)
      .setAudience(AUDIENCE)
      .setExpirationTime("1h")
      .sign(new TextEncoder().encode("a key that the issuer publishes"));
    expect(await refused(secret)).to.include("UNAUTHENTICATED");
    const unknown = await new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256" })
      .setIssuer("https://x.example")
      .sign(privateKey);
    expect(await refused(unknown)).to.include("the token is unknown");
  });

  it("may prove themselves with tokens of jobs of this installation, by its own keys", async () => {
    const { kid, privateKey } = await currentKey(gateway.context);
    const token = (claims: Record<string, string>) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "RS256", kid })
        .setIssuer(OWN_ADDRESS)
        .setSubject("tenant:default:project:default")
        .setAudience("agents")
        .setExpirationTime("5m")
        .sign(privateKey);
    const { agentId } = await register(await token({ project_id: "default" }), "of-a-job");
    const agent = (await gateway.stores.identity.findAgent(asId(agentId)))!;
    expect([agent.trustedLabels ?? {}, agent.reach]).to.deep.equal([{}, null]);
    expect(await refused(await token({ project_id: "other" }))).to.include("its claims are not those");
  });

  it("cannot take the name of an agent with labels that their issuer does not give, or call anything else", async () => {
    const known = await gateway.register("trusted", 1);
    await gateway.stores.identity.changeAgent(known.agentId, { trustedLabels: { gpu: "yes" } });
    const token = await provider.machineToken(AUDIENCE);
    expect(await refused(token, "trusted")).to.match(/^PERMISSION_DENIED .*gpu=yes/);
    const list = await refusal(invoke(gateway.agents(), "listAgents", {}, bearer(token)));
    expect(list.code).to.equal(status.PERMISSION_DENIED);
  });

  it("are told when the keys of the issuer cannot be read", async () => {
    const down = await startIdentityProvider();
    down.serve([]);
    const token = await down.machineToken(AUDIENCE);
    down.isDown = true;
    const { issuers } = workloadFile.parse({
      issuers: [{ id: "down", issuer: down.issuer, audience: AUDIENCE, claims: { sub: "*" } }],
    });
    const prover = new WorkloadIdentities(issuers, gateway.context);
    const error = await prover.prove(token).catch((caught: unknown) => caught);
    expect(error).to.include({ reason: "unavailable" });
    await down.close();
  });
});

describe("rules for the claims of a token", () => {
  it("compare values, lists and maps, with * for any text", () => {
    const claims = { sub: "repo:org/app:ref:main", groups: ["a", "b"], k: { n: { m: 1 } }, yes: true };
    const fits = [
      { sub: "repo:org/*" },
      { sub: "*:ref:main" },
      { sub: "repo:*:ref:*" },
      { groups: "b" },
      { groups: ["x", "a"] },
    ];
    for (const rule of [...fits, { k: { n: { m: 1 } } }, { yes: true }, { sub: "*" }]) {
      expect(claimsMatch(rule, claims), JSON.stringify(rule)).to.equal(true);
    }
    const differs = [
      { sub: "repo:org/app" },
      { sub: "repo:*:ref:dev" },
      { sub: "a*a" },
      { groups: "c" },
      { k: { n: { m: 2 } } },
    ];
    for (const rule of [
      ...differs,
      { yes: "true" },
      { missing: "*" },
      { toString: "*" },
      { k: "*" },
      { sub: { a: "*" } },
    ]) {
      expect(claimsMatch(rule, claims), JSON.stringify(rule)).to.equal(false);
    }
    expect(claimsMatch({ sub: "a*a" }, { sub: "a" }), "the parts may not overlap").to.equal(false);
  });
});
