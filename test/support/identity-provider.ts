/** A real OpenID Connect provider on a loopback port. Its login page logs in the account that the test has chosen. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { type ProviderContext } from "oidc-provider";

const MACHINE = "workload";

export interface Account {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly preferred_username?: string;
  readonly groups?: readonly string[];
}

export interface TestIdentityProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What the provider knows of each account, by its id. */
  readonly accounts: Map<string, Account>;
  /** The account that logs in next. */
  next: string;
  /** By how much the clock of the provider is wrong when it makes tokens, milliseconds. */
  skewMs: number;
  /** Set to make the provider answer nothing but 503. */
  isDown: boolean;
  /** An access token that the provider makes for a machine, whose subject is `workload`, for this audience. */
  machineToken(audience: string): Promise<string>;
  /** Begins to serve clients that come back to these addresses. */
  serve(redirectUris: readonly string[]): void;
  close(): Promise<void>;
}

export async function startIdentityProvider(): Promise<TestIdentityProvider> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [clientId, clientSecret] = ["millrace", "the secret of the client"];
  const accounts = new Map<string, Account>();

  const started: TestIdentityProvider = {
    issuer,
    clientId,
    clientSecret,
    accounts,
    next: "",
    skewMs: 0,
    isDown: false,
    serve(redirectUris) {
      const provider = new Provider(issuer, {
        clients: [
          { client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUris },
          {
            client_id: MACHINE,
            client_secret: clientSecret,
            grant_types: ["client_credentials"],
            redirect_uris: [],
            response_types: [],
          },
        ],
        cookies: { keys: ["a key of this test"] },
        features: {
          devInteractions: { enabled: false },
          clientCredentials: { enabled: true },
          resourceIndicators: {
            enabled: true,
            defaultResource: () => undefined,
            getResourceServerInfo: (_: unknown, audience: string) => ({
              scope: "",
              audience,
              accessTokenTTL: 60,
              accessTokenFormat: "jwt",
            }),
          },
        },
        extraTokenClaims: () => ({ pools: ["linux", "gpu"], place: { zone: "eu-1" } }),
        pkce: { required: () => true },
        conformIdTokenClaims: true,
        claims: {
          openid: ["sub"],
          email: ["email", "email_verified"],
          profile: ["preferred_username"],
          groups: ["groups"],
        },
        ttl: { IdToken: 10 },
        findAccount: (_: unknown, accountId: string) => ({
          accountId,
          claims: () => Promise.resolve({ sub: accountId, ...accounts.get(accountId) }),
        }),
        async loadExistingGrant({ oidc }: ProviderContext) {
          const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
          grant.addOIDCScope("openid email profile groups");
          await grant.save();
          return grant;
        },
        interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
      });
      const handle = provider.callback();
      server.on("request", (request, response) => {
        if (started.isDown) {
          response.writeHead(503).end();
          return;
        }
        if (request.url!.startsWith("/interaction/")) {
          void provider.interactionFinished(request, response, { login: { accountId: started.next } });
          return;
        }
        const isToken = request.url!.startsWith("/token");
        const { now } = Date;
        if (isToken) Date.now = () => now() + started.skewMs;
        void handle(request, response).finally(() => (Date.now = now));
      });
    },
    async machineToken(audience) {
      const answer = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: {
          authorization: `Basic ${Buffer.from(`${MACHINE}:${encodeURIComponent(clientSecret)}`).toString("base64")}`,
        },
        body: new URLSearchParams({ grant_type: "client_credentials", resource: audience }),
      });
      const body = (await answer.json()) as { access_token?: string };
      if (body.access_token === undefined) throw new Error(JSON.stringify(body));
      return body.access_token;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return started;
}
