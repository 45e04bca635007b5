import { expect } from "chai";
import { SignJWT } from "jose";
import { signAccessToken } from "../../../src/app/identity/access-tokens.ts";
import {
  type AgentOperation,
  authenticate,
  authorise,
  type Caller,
  claimedIdentity,
  type UserCaller,
  operationsOf,
  type UserOperation,
  type Width,
} from "../../../src/app/identity/access.ts";
import { firstStart } from "../../support/first-start.ts";
import type { AppContext } from "../../../src/app/context.ts";
import { adoptToken, issueToken, tokenIdOf } from "../../../src/app/identity/tokens.ts";
import { MillraceError } from "../../../src/domain/errors.ts";
import { asId, type AgentId, newId, type TokenId, type UserId } from "../../../src/domain/ids.ts";
import type { Role } from "../../../src/domain/roles.ts";
import { testVault } from "../../support/secrets.ts";
import { ARTIFACT_RULES } from "../../support/artifact-rules.ts";
import { CACHE_RULES } from "../../support/cache-rules.ts";
import { UPLOAD_RULES } from "../../support/upload-rules.ts";
import { LOG_LIMIT } from "../../support/log-limit.ts";
import { openTestSqlite } from "../../support/stores.ts";
import { RecordingPorts, silentLog } from "../../support/kernel-ports.ts";

async function reasonOf(call: () => unknown): Promise<string> {
  try {
    await call();
    return "none";
  } catch (error) {
    return error instanceof MillraceError ? error.reason : String(error);
  }
}

describe("access", () => {
  let store: Awaited<ReturnType<typeof openTestSqlite>>;
  let context: AppContext;
  let now = Date.now();

  beforeEach(async () => {
    store = await openTestSqlite();
    const ports = new RecordingPorts();
    context = {
      stores: store.stores,
      feed: ports.feed,
      mailboxes: ports.mailboxes,
      board: ports.board,
      presence: {
        beat: () => Promise.resolve(),
        renew: () => Promise.resolve(true),
        leave: () => Promise.resolve(),
        read: () => Promise.resolve(new Map()),
        online: () => Promise.resolve([]),
        declareLost: () => Promise.resolve(),
        lost: () => Promise.resolve([]),
      },
      clock: { now: () => now, monotonic: () => performance.now() },
      log: silentLog,
      shards: 16,
      eventNamespace: "svc",
      secrets: testVault(store.stores),
      artifactRules: ARTIFACT_RULES,
      cacheRules: CACHE_RULES,
      uploadRules: UPLOAD_RULES,
      logLimit: LOG_LIMIT,
      signingKey: new TextEncoder().encode("k".repeat(32)),
    };
  });
  afterEach(() => store.close());

  async function newUser(role: Role, disabled = false): Promise<UserId> {
    const userId = newId("usr");
    await context.stores.identity.createUser({
      userId,
      name: `user-${userId}`,
      role,
      passwordHash: "",
      createdAt: now,
      disabled,
    });
    return userId;
  }

  describe("opaque tokens", () => {
    it("prove the user, agent or registration that they were issued for", async () => {
      const userId = await newUser("viewer");
      const personal = await issueToken(context, { kind: "personal", subject: userId, name: "t", scopes: ["act-as"] });
      const agent = await issueToken(context, { kind: "agent", subject: "agt_1", name: "t" });
      const registration = await issueToken(context, { kind: "registration", subject: userId, name: "t" });
      expect(await authenticate(context, personal)).to.deep.include({ kind: "user", userId, scopes: ["act-as"] });
      expect(await authenticate(context, agent)).to.deep.equal({
        kind: "agent",
        agentId: "agt_1",
        tokenId: tokenIdOf(agent),
      });
      expect(await authenticate(context, registration)).to.deep.equal({
        kind: "registration",
        proof: { tokenId: tokenIdOf(registration) },
      });
    });

    it("are stored without their secret", async () => {
      const text = await issueToken(context, { kind: "agent", subject: "agt_1", name: "t" });
      const stored = JSON.stringify(await context.stores.identity.findToken(tokenIdOf(text)));
      expect(stored).not.to.include(text.split("_").at(-1));
    });

    it("are refused when their secret is wrong, and when they are unknown, empty, expired or revoked", async () => {
      const userId = await newUser("owner");
      const text = await issueToken(context, { kind: "personal", subject: userId, name: "t", expiresInMs: 1_000 });
      const wrong = text.slice(0, -1) + (text.endsWith("0") ? "1" : "0");
      for (const bearer of [wrong, "", "mrt_", "x".repeat(100_000), `mrt_${newId("tok")}_${"0".repeat(64)}`]) {
        expect(await reasonOf(() => authenticate(context, bearer))).to.equal("unauthenticated");
      }
      expect(await reasonOf(() => authenticate(context, text))).to.equal("none");
      now += 1_000;
      expect(await reasonOf(() => authenticate(context, text))).to.equal("unauthenticated");
      const other = await issueToken(context, { kind: "personal", subject: userId, name: "t" });
      await context.stores.identity.deleteToken(tokenIdOf(other));
      expect(await reasonOf(() => authenticate(context, other))).to.equal("unauthenticated");
    });

    it("of disabled users are refused", async () => {
      const userId = await newUser("owner", true);
      const text = await issueToken(context, { kind: "personal", subject: userId, name: "t" });
      expect(await reasonOf(() => authenticate(context, text))).to.equal("unauthenticated");
      const access = await signAccessToken(context, userId);
      expect(await reasonOf(() => authenticate(context, access))).to.equal("unauthenticated");
    });

    it("that an operator chose work like issued tokens, and adopting them again changes nothing", async () => {
      const userId = await newUser("admin");
      for (const chosen of ["a-token-that-the-operator-has-chosen", "three.parts.with-dots-0123456789abcdef"]) {
        for (let round = 0; round < 2; round++) {
          await adoptToken(context, chosen, { kind: "personal", subject: userId, name: "chosen" });
        }
        expect(await authenticate(context, chosen)).to.include({ kind: "user", userId });
        expect(await reasonOf(() => authenticate(context, `${chosen}x`))).to.equal("unauthenticated");
      }
      expect(await context.stores.identity.listTokens("personal", userId)).to.have.length(2);
    });
  });

  describe("access tokens", () => {
    it("prove their user for 15 minutes", async () => {
      const userId = await newUser("operator");
      const token = await signAccessToken(context, userId);
      expect(await authenticate(context, token)).to.deep.include({
        kind: "user",
        userId,
        role: "operator",
        scopes: [],
      });
      now += 15 * 60_000 - 2_000;
      expect(await reasonOf(() => authenticate(context, token))).to.equal("none");
      now += 3_000;
      expect(await reasonOf(() => authenticate(context, token))).to.equal("unauthenticated");
    });

    it("are refused when signed with another key or not at all, and for a deleted user", async () => {
      const userId = await newUser("owner");
      const claims = () => new SignJWT().setIssuer("millrace").setSubject(userId).setExpirationTime("1h");
      const forged = await claims()
        .setProtectedHeader({ alg: "HS256" })
        .sign(new TextEncoder().encode("f".repeat(32)));
      const [, payload] = forged.split(".");
      const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.`;
      const gone = await signAccessToken(context, newId("usr"));
      const endless = await new SignJWT()
        .setIssuer("millrace")
        .setSubject(userId)
        .setProtectedHeader({ alg: "HS256" })
        .sign(context.signingKey);
      for (const bearer of [forged, unsigned, gone, endless, "a.b.c"]) {
        expect(await reasonOf(() => authenticate(context, bearer)), bearer).to.equal("unauthenticated");
      }
    });
  });

  describe("the table of roles", () => {
    const user = (role: Role): Caller => ({ kind: "user", userId: asId<UserId>("usr_1"), name: "u", role, scopes: [] });
    const LEAST: Record<UserOperation, Role> = {
      readPipelines: "viewer",
      validateDefinition: "viewer",
      readRuns: "viewer",
      readLogs: "viewer",
      readArtifacts: "viewer",
      readCaches: "viewer",
      readUploads: "viewer",
      readEvents: "viewer",
      readApprovals: "viewer",
      readPlugins: "viewer",
      readTenantPlugins: "viewer",
      readProjectPlugins: "viewer",
      readAgents: "viewer",
      readProjects: "viewer",
      readVariables: "viewer",
      readTenantVariables: "viewer",
      writeVariables: "maintainer",
      writeTenantVariables: "maintainer",
      readSettings: "admin",
      writeSettings: "admin",
      readTenantSettings: "admin",
      writeTenantSettings: "admin",
      readInstallationSettings: "admin",
      writeInstallationSettings: "admin",
      manageOwnTokens: "viewer",
      readOwnAccount: "viewer",
      manageOwnAccount: "viewer",
      manageOwnNotifications: "viewer",
      decideApprovals: "viewer",
      triggerRun: "operator",
      writeUploads: "operator",
      controlRun: "operator",
      controlSchedules: "operator",
      runAdHocSteps: "maintainer",
      updateStepRuns: "maintainer",
      deleteArtifacts: "maintainer",
      deleteCaches: "maintainer",
      deleteUploads: "maintainer",
      writePipelines: "maintainer",
      writeDefinitions: "maintainer",
      manageSecrets: "maintainer",
      manageWebhooks: "maintainer",
      manageHooks: "maintainer",
      manageTenantWebhooks: "admin",
      managePlugins: "admin",
      manageTenantPlugins: "admin",
      manageProjectPlugins: "maintainer",
      manageUsers: "admin",
      manageOthersTokens: "admin",
      manageAgents: "admin",
      createTenants: "admin",
      readTenants: "viewer",
      manageTenants: "admin",
      deleteTenants: "owner",
      manageTenantMembers: "admin",
      manageProjectMembers: "admin",
      manageTeams: "admin",
      createProjects: "admin",
      manageProjects: "admin",
      deleteProjects: "owner",
      readCluster: "admin",
      readRetention: "admin",
      writeRetention: "admin",
      readLogLimit: "admin",
      writeLogLimit: "admin",
      readTrustDemand: "admin",
      writeTrustDemand: "admin",
      redriveDeadLetters: "admin",
      readAudit: "admin",
      readInstallationAudit: "owner",
      readSystemEvents: "viewer",
      readAllSystemEvents: "admin",
      readInstallationEvents: "admin",
    };
    const RISING: readonly Role[] = ["viewer", "operator", "maintainer", "admin", "owner"];

    for (const [operation, least] of Object.entries(LEAST) as [UserOperation, Role][]) {
      it(`lets the role ${least} and higher roles ${operation}, and no other role`, async () => {
        for (const role of RISING) {
          const allowed = RISING.indexOf(role) >= RISING.indexOf(least);
          const reason = await reasonOf(() => authorise(user(role), operation));
          expect(reason, role).to.equal(allowed ? "none" : "forbidden");
        }
      });
    }

    // oxfmt-ignore
    const WIDTH: Record<Width, readonly UserOperation[]> = {
      read: [
        "readPipelines", "validateDefinition", "readRuns", "readLogs", "readArtifacts", "readCaches", "readEvents",
        "readApprovals", "readPlugins", "readTenantPlugins", "readProjectPlugins", "readAgents", "readOwnAccount", "readCluster", "readRetention", "readLogLimit",
        "readTrustDemand", "readProjects", "readTenants", "readVariables", "readTenantVariables", "readSettings", "readTenantSettings", "readInstallationSettings", "readUploads", "readAudit", "readInstallationAudit", "readSystemEvents", "readAllSystemEvents", "readInstallationEvents",
      ],
      trigger: ["decideApprovals", "triggerRun", "controlRun", "controlSchedules", "writeUploads"],
      write: ["manageOwnNotifications", "manageWebhooks", "manageHooks", "manageProjectPlugins", "runAdHocSteps", "updateStepRuns", "deleteArtifacts", "deleteCaches", "deleteUploads", "writePipelines", "writeDefinitions", "writeVariables", "writeTenantVariables"],
      admin: [
        "manageOwnTokens", "manageOwnAccount", "manageSecrets", "managePlugins", "manageTenantPlugins", "manageUsers", "manageOthersTokens",
        "manageAgents", "createProjects", "manageProjects", "deleteProjects", "createTenants", "manageTenants", "deleteTenants",
        "manageTenantWebhooks", "manageTenantMembers", "manageProjectMembers", "manageTeams", "writeRetention", "writeLogLimit", "writeTrustDemand", "redriveDeadLetters", "writeSettings", "writeTenantSettings", "writeInstallationSettings",
      ],
    };

    it("narrows a token by its widest scope, whatever its user's role is", async () => {
      expect(Object.values(WIDTH).flat().toSorted()).to.deep.equal(Object.keys(LEAST).toSorted());
      const rising: readonly Width[] = ["read", "trigger", "write", "admin"];
      for (const width of rising) {
        for (const [at, scope] of rising.entries()) {
          for (const operation of WIDTH[width]) {
            const caller = { ...user("owner"), scopes: ["act-as", "read", scope] } as Caller;
            const reason = await reasonOf(() => authorise(caller, operation));
            expect(reason, `${operation} with ${scope}`).to.equal(at >= rising.indexOf(width) ? "none" : "forbidden");
          }
        }
      }
      expect(
        await reasonOf(() => authorise({ ...user("owner"), scopes: ["act-as"] } as Caller, "manageUsers")),
      ).to.equal("none");
      const narrowed = { role: "viewer", scopes: ["admin"] } as const;
      expect(operationsOf(narrowed)).to.have.members(
        Object.entries(LEAST).flatMap(([operation, least]) => (least === "viewer" ? [operation] : [])),
      );
    });

    it("lets agent tokens and registration tokens do only their own operation", async () => {
      const callers: readonly Caller[] = [
        { kind: "agent", agentId: asId<AgentId>("agt_1"), tokenId: asId<TokenId>("tok_1") },
        { kind: "registration", proof: { tokenId: asId<TokenId>("tok_1") } },
        { kind: "registration", proof: { workload: { id: "cloud", subject: "vm", labels: {} } } },
        user("owner"),
      ];
      const own: Record<AgentOperation, Caller["kind"]> = { workAsAgent: "agent", registerAgent: "registration" };
      for (const caller of callers) {
        for (const [operation, kind] of Object.entries(own) as [AgentOperation, Caller["kind"]][]) {
          const reason = await reasonOf(() => authorise(caller, operation));
          expect(reason, `${caller.kind} ${operation}`).to.equal(caller.kind === kind ? "none" : "forbidden");
        }
        if (caller.kind === "user") continue;
        for (const operation of Object.keys(LEAST) as UserOperation[]) {
          expect(await reasonOf(() => authorise(caller, operation))).to.equal("forbidden");
        }
      }
    });
  });

  it("records another name than the caller's only for tokens with the scope act-as", async () => {
    const caller: UserCaller = { kind: "user", userId: asId<UserId>("usr_1"), name: "ann", role: "viewer", scopes: [] };
    expect(claimedIdentity(caller, undefined, "operator")).to.equal("ann");
    expect(claimedIdentity(caller, "", "operator")).to.equal("ann");
    expect(claimedIdentity(caller, "ann", "operator")).to.equal("ann");
    expect(claimedIdentity(caller, "usr_1", "operator")).to.equal("usr_1");
    expect(await reasonOf(() => claimedIdentity(caller, "bob", "operator"))).to.equal("forbidden");
    expect(claimedIdentity({ ...caller, scopes: ["act-as"] }, "bob", "operator")).to.equal("bob");
  });

  describe("the first start", () => {
    it("creates the default project and an administrator whose token is shown once", async () => {
      const { adminToken } = await firstStart(context);
      expect(await authenticate(context, adminToken!)).to.deep.include({
        name: "admin",
        role: "owner",
        scopes: ["act-as"],
      });
      expect(await context.stores.pipelines.findProject(asId("default"))).to.include({ name: "default" });
      expect(await firstStart(context)).to.deep.equal({ adminToken: null });
      expect(await context.stores.identity.listUsers()).to.have.length(1);
    });

    it("stores the operator's own tokens and shows none", async () => {
      const token = "operator-chosen-administrator-token";
      const registrationToken = "operator-chosen-registration-token";
      for (let start = 0; start < 2; start++) {
        expect(await firstStart(context, { token, registrationToken })).to.deep.equal({ adminToken: null });
      }
      expect(await authenticate(context, token)).to.include({ kind: "user", name: "admin" });
      expect(await authenticate(context, registrationToken)).to.include({ kind: "registration" });
    });

    it("makes one administrator when several nodes start at the same time", async () => {
      const token = "operator-chosen-administrator-token";
      await Promise.all(Array.from({ length: 8 }, () => firstStart(context, { token })));
      const users = await context.stores.identity.listUsers();
      expect(users).to.have.length(1);
      expect(await context.stores.identity.listTokens("personal", users[0]!.userId)).to.have.length(1);
    });

    it("makes no second administrator when the first one was renamed, and prints no token beside a password", async () => {
      const { identity } = context.stores;
      await firstStart(context);
      const [admin] = await identity.listUsers();
      await identity.changeUser(admin!.userId, { name: "root" });
      expect(await firstStart(context)).to.deep.equal({ adminToken: null });
      for (const { tokenId } of await identity.listTokens("personal", admin!.userId))
        await identity.deleteToken(tokenId);
      await identity.changeUser(admin!.userId, { passwordHash: "a hash" });
      expect(await firstStart(context)).to.deep.equal({ adminToken: null });
      await identity.changeUser(admin!.userId, { passwordHash: "" });
      const { adminToken } = await firstStart(context);
      expect(await authenticate(context, adminToken!)).to.include({ userId: admin!.userId, name: "root" });
      expect(await identity.listUsers()).to.have.length(1);
    });

    it("makes the user admin an owner again when there is no active owner", async () => {
      const { identity } = context.stores;
      const stored = { role: "viewer", passwordHash: "", createdAt: 1, disabled: true } as const;
      await identity.createUser({ ...stored, userId: asId<UserId>("usr_1"), name: "admin" });
      const { adminToken } = await firstStart(context);
      expect(await authenticate(context, adminToken!)).to.include({ userId: "usr_1", role: "owner" });
    });
  });
});
