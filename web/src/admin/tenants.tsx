/** The tenants of the installation. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { may } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { areaWords } from "../areas/area-words.ts";
import { Button } from "../parts/button.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MoreButton, usePages } from "../parts/more.tsx";
import { Section } from "../parts/page.tsx";
import { type Column, RowLink, Table, Under } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { adminWords } from "./admin-words.ts";

const texts = adminWords.tenants;
type Tenant = Schemas["Tenant"];

export function Tenants() {
  const { route } = useLocation();
  const [isMaking, setMaking] = useState(false);
  const tenants = usePages(
    (after, signal) =>
      api.get("/tenants", { query: { pageSize: 100, ...(after === undefined ? {} : { after }) }, signal }),
    [],
  );
  const columns: readonly Column<Tenant>[] = [
    {
      name: texts.name,
      cell: ({ tenantId, name, archived }) => (
        <>
          <RowLink href={`/admin/tenants/${tenantId}`}>{name}</RowLink>
          {archived ? <Under>{texts.archived}</Under> : null}
        </>
      ),
    },
    { name: texts.slug, width: "30%", cell: ({ slug }) => <code>{slug}</code> },
    { name: texts.since, width: "110px", needs: "wide", align: "end", cell: (one) => <Ago at={one.createdAt} /> },
  ];
  return (
    <Section
      title={areaWords.tabs.tenants}
      aside={
        may("createTenants") ? (
          <Button kind="primary" onClick={() => setMaking(true)}>
            {texts.make}
          </Button>
        ) : undefined
      }
    >
      <Loaded of={tenants.pages}>
        {() => (
          <Table
            label={areaWords.tabs.tenants}
            rows={tenants.list}
            columns={columns}
            keyOf={({ tenantId }) => tenantId}
            stateOf={({ archived }) => (archived ? "faint" : undefined)}
          />
        )}
      </Loaded>
      <MoreButton of={tenants} />
      {isMaking ? (
        <FormDialog
          title={texts.make}
          save={texts.make}
          fields={[
            { name: "name", label: texts.name, isRequired: true },
            { name: "slug", label: texts.slug, hint: texts.slugHint },
          ]}
          onClose={() => setMaking(false)}
          onSave={async ({ name = "", slug = "" }) => {
            const body = { name: name.trim(), ...(slug.trim() === "" ? {} : { slug: slug.trim() }) };
            const { tenantId } = await api.post("/tenants", { body });
            route(`/admin/tenants/${tenantId}`);
          }}
        />
      ) : null}
    </Section>
  );
}
