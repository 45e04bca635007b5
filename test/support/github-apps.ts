/**
 * The part of GitHub's API that makes tokens of App installations, and what its tokens open. Proofs are verified with the
 * public key of the App, as GitHub verifies them. Source: docs.github.com, "Generating a JSON Web Token (JWT) for a GitHub App".
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { errors, jwtVerify } from "jose";

type Access = "read" | "write";
type Answer = readonly [status: number, body: object];

export interface IssuedToken {
  readonly token: string;
  readonly repositories: readonly string[] | undefined;
  readonly permissions: Readonly<Record<string, Access>>;
  readonly expiresAt: number;
}

/** Making a key of RSA takes time: one is enough for all tests of a process, and most tests need none. */
const keyPair = () => generateKeyPairSync("rsa", { modulusLength: 2_048 });
let own: ReturnType<typeof keyPair> | undefined;
/** A key that no App has. */
let foreign: ReturnType<typeof keyPair> | undefined;
const DOCS = "https://docs.github.com/rest";

/** The form in which GitHub hands out keys. */
function pemOf({ privateKey }: ReturnType<typeof keyPair>): string {
  return privateKey.export({ type: "pkcs1", format: "pem" }) as string;
}

export class GitHubApps {
  readonly appId = 12_345;
  readonly installationId = 678;
  readonly issued: IssuedToken[] = [];
  isSuspended = false;
  permissions: Readonly<Record<string, Access>> = {
    contents: "write",
    metadata: "read",
    pull_requests: "write",
    repository_hooks: "write",
    statuses: "write",
  };
  repositories = ["app"];
  lifeMs = 3_600_000;
  /** By how much the clock of the host is ahead of that of this process. */
  aheadMs = 0;

  get privateKey(): string {
    return pemOf((own ??= keyPair()));
  }

  get foreignKey(): string {
    return pemOf((foreign ??= keyPair()));
  }

  now(): number {
    return Date.now() + this.aheadMs;
  }

  /** A secret with the App. */
  secret(host: string, fields: object = {}): string {
    const { appId, installationId, privateKey } = this;
    return JSON.stringify({ appId, installationId, privateKey, host, ...fields });
  }

  /** Undefined for a call that is about no installation. */
  async answer(path: string, authorization = "", body: unknown = {}): Promise<Answer | undefined> {
    const id = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(path)?.[1];
    if (id === undefined) return undefined;
    const wrong = await this.#problemOf(authorization.replace(/^Bearer /, ""));
    if (wrong !== undefined) return refusal(401, wrong);
    if (id !== String(this.installationId)) return refusal(404, "Not Found");
    if (this.isSuspended) return refusal(403, "This installation has been suspended");
    return this.#issue(body as { repositories?: string[]; permissions?: Record<string, Access> });
  }

  /** Whether a token opens a repository for this. */
  opens(token: string, repository: string, permission: string, access: Access): boolean {
    const found = this.issued.find((each) => each.token === token);
    if (found === undefined || found.expiresAt <= this.now() || this.isSuspended) return false;
    const given = found.permissions[permission];
    const isCovered = (found.repositories ?? this.repositories).includes(repository);
    return isCovered && (given === "write" || given === access);
  }

  revokeAll(): void {
    this.issued.length = 0;
  }

  async #problemOf(proof: string): Promise<string | undefined> {
    const now = Math.floor(this.now() / 1_000);
    try {
      const currentDate = new Date(now * 1_000);
      const { payload } = await jwtVerify(proof, (own ??= keyPair()).publicKey, { algorithms: ["RS256"], currentDate });
      const { iss, iat = 0, exp = 0 } = payload;
      if (iss !== String(this.appId)) return "Integration must generate a public key";
      if (iat > now) {
        return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
      }
      return exp > now + 600 ? "'Expiration time' claim ('exp') is too far in the future" : undefined;
    } catch (error) {
      return error instanceof errors.JWTExpired
        ? "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
        : "A JSON web token could not be decoded";
    }
  }

  #issue({ repositories, permissions = this.permissions }: Partial<Pick<IssuedToken, "repositories" | "permissions">>) {
    const isGranted = ([name, access]: [string, Access]) => [access, "write"].includes(this.permissions[name] ?? "");
    if (!Object.entries(permissions).every(isGranted)) {
      return refusal(422, "The permissions requested are not granted to this installation.");
    }
    if (repositories?.every((name) => this.repositories.includes(name)) === false) {
      const which =
        "There is at least one repository that does not exist or is not accessible to the parent installation.";
      return refusal(422, which);
    }
    const expiresAt = this.now() + this.lifeMs;
    const token = `ghs_${randomBytes(18).toString("hex")}`;
    const given = { metadata: "read", ...permissions } as const;
    this.issued.push({ token, repositories, permissions: given, expiresAt });
    const body = {
      token,
      expires_at: new Date(expiresAt).toISOString(),
      permissions: given,
      repository_selection: "selected",
    };
    return [201, body] as const;
  }
}

function refusal(status: number, message: string): Answer {
  return [status, { message, documentation_url: DOCS }];
}
