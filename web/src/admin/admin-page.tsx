/** The administration of the installation: its parts, each at an address of its own. */
import lock from "lucide-static/icons/lock.svg?raw";
import searchX from "lucide-static/icons/search-x.svg?raw";
import { may } from "../app/session.ts";
import { mayHere } from "../areas/area.ts";
import { areaWords } from "../areas/area-words.ts";
import { Settings } from "../areas/settings.tsx";
import { Page } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { adminWords } from "./admin-words.ts";
import { Audit } from "./audit.tsx";
import { Tenants } from "./tenants.tsx";
import { Users } from "./users.tsx";

const { tabs } = areaWords;
const PARTS = ["users", "tenants", "audit", "settings"] as const;
const INSTALLATION = { kind: "installation" } as const;

/** Without a part: the first that the reader may see. */
export function AdminPage({ part }: { readonly part?: string | undefined }) {
  const rights = {
    users: may("manageUsers"),
    tenants: may("readTenants"),
    audit: may("readAudit"),
    settings: mayHere("readSettings", INSTALLATION),
  };
  const mine = PARTS.filter((name) => rights[name]);
  const known = part === undefined ? mine[0] : PARTS.find((name) => name === part);
  return (
    <Page title={known === undefined ? adminWords.title : tabs[known]} crumbs={[["/admin", adminWords.title]]}>
      <Tabs
        label={adminWords.parts}
        of={mine.map((name) => [`/admin/${name}`, tabs[name]] as const)}
        here={`/admin/${known ?? ""}`}
      />
      {known === undefined ? (
        part === undefined ? (
          <Blank icon={lock} title={areaWords.noRight} />
        ) : (
          <Blank icon={searchX} title={areaWords.gone} />
        )
      ) : rights[known] ? (
        <>
          {known === "users" ? <Users /> : null}
          {known === "tenants" ? <Tenants /> : null}
          {known === "audit" ? <Audit /> : null}
          {known === "settings" ? <Settings area={INSTALLATION} /> : null}
        </>
      ) : (
        <Blank icon={lock} title={areaWords.noRight} />
      )}
    </Page>
  );
}
