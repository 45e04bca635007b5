/** The settings of OpenID Connect providers, as an operator writes them in the file that `MILLRACE_OIDC_FILE` names. */
import { z } from "zod";
import { ROLES } from "../../domain/roles.ts";

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/;

/** Only an issuer on this machine may have an address without TLS. */
export const issuerAddress = z
  .url()
  .refine((text) => text.startsWith("https://") || LOOPBACK.test(text), "must begin with https://")
  .max(500);

const roleOfGroup = z.record(z.string(), z.enum(ROLES));

const provider = z.strictObject({
  /** Part of addresses: `/login/oidc/<id>`. */
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "must have 1 to 32 small letters, digits or -"),
  /** What the login page shows. */
  name: z.string().min(1).max(60),
  issuer: issuerAddress,
  clientId: z.string().min(1).max(500),
  clientSecret: z.string().min(1).optional(),
  clientSecretFile: z.string().min(1).optional(),
  scopes: z.array(z.string().regex(/^[\x21-\x7e]+$/)).default(["openid", "profile", "email"]),
  /** The claim with the groups of a user. */
  groupsClaim: z.string().min(1).default("groups"),
  /** The role of each group in the installation. A user of several groups gets the most powerful role. */
  roles: roleOfGroup.default({}),
  /** By the id of a tenant: the role of each group there. */
  tenants: z.record(z.string(), roleOfGroup).optional(),
  /** By the id of a project: the role of each group there. */
  projects: z.record(z.string(), roleOfGroup).optional(),
  /** By the id of a team: the groups whose users are its members. */
  teams: z.record(z.string(), z.array(z.string())).optional(),
  /** The role in the installation without a mapped group: of new users, and of users whose group gave them a role. */
  defaultRole: z.enum(ROLES).nullable().default("viewer"),
  /** Whether a user who is not known here is created. */
  autoProvision: z.boolean().default(false),
  /** By how much the clock of the provider may differ. */
  clockToleranceSeconds: z.int().min(0).max(600).default(30),
});

const checked = provider.check(({ value, issues }) => {
  const refuse = (path: string, message: string): void =>
    void issues.push({ code: "custom", input: undefined, path: [path], message });
  if (value.clientSecret !== undefined && value.clientSecretFile !== undefined) {
    refuse("clientSecretFile", "and clientSecret exclude each other: set one of them");
  }
  if (!value.scopes.includes("openid")) refuse("scopes", "must contain openid");
});

export const oidcFile = z
  .strictObject({ providers: z.array(checked).max(50) })
  .refine(({ providers }) => new Set(providers.map(({ id }) => id)).size === providers.length, {
    path: ["providers"],
    message: "must have different ids",
  });

/** A provider with its secret, wherever the secret was written. */
export type OidcProviderSettings = Omit<z.output<typeof provider>, "clientSecretFile">;
