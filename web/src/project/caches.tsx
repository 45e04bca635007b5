/** The cache entries of a project. */
import { useState } from "preact/hooks";
import archive from "lucide-static/icons/archive.svg?raw";
import { api, type Schemas } from "../api/client.ts";
import { useFilters } from "../app/place.ts";
import { areaWords } from "../areas/area-words.ts";
import styles from "../areas/areas.module.css";
import { Button } from "../parts/button.tsx";
import { FilterBar, FilterText } from "../parts/filters.tsx";
import { ConfirmDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MoreButton, usePages } from "../parts/more.tsx";
import { Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, Table, Under } from "../parts/table.tsx";
import { sizeText } from "../parts/time-texts.ts";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";

const texts = areaWords.caches;
type Cache = Schemas["Cache"];

export function Caches({ projectId, mayDelete }: { readonly projectId: string; readonly mayDelete: boolean }) {
  const path = { projectId };
  const [filters, change] = useFilters();
  const prefix = filters["prefix"] ?? "";
  const [isAsking, setAsking] = useState(false);
  const caches = usePages(
    (after, signal) =>
      api.get("/projects/{projectId}/caches", {
        path,
        query: {
          pageSize: 50,
          ...(prefix === "" ? {} : { prefix }),
          ...(after === undefined ? {} : { after }),
        },
        signal,
      }),
    [projectId, prefix],
  );
  const remove = async ({ cacheId }: Cache) => {
    await api.delete("/projects/{projectId}/caches/{cacheId}", { path: { ...path, cacheId } });
    tell(texts.removed);
    caches.reload();
  };
  const columns: readonly Column<Cache>[] = [
    {
      name: texts.key,
      cell: ({ key, runId }) => (
        <>
          <code>{key}</code>
          <Under>
            {texts.run} <a href={`/runs/${runId}`}>{runId}</a>
          </Under>
        </>
      ),
    },
    { name: texts.size, width: "90px", align: "end", cell: ({ size }) => sizeText(size) },
    { name: texts.used, width: "104px", align: "end", needs: "wide", cell: (one) => <Ago at={one.lastUsedAt} /> },
    { name: texts.expires, width: "104px", align: "end", needs: "wide", cell: (one) => <Ago at={one.expiresAt} /> },
    {
      name: texts.remove,
      isQuiet: true,
      width: "98px",
      align: "end",
      cell: (entry) => (mayDelete ? <Button onClick={() => remove(entry)}>{texts.remove}</Button> : null),
    },
  ];
  return (
    <Section
      title={areaWords.tabs.caches}
      aside={
        mayDelete && prefix !== "" && caches.list.length > 0 ? (
          <Button onClick={() => setAsking(true)}>{texts.removeAll(prefix)}</Button>
        ) : undefined
      }
    >
      <FilterBar>
        <FilterText label={texts.filter} value={prefix} isMain onChange={(value) => change({ prefix: value })} />
      </FilterBar>
      <Loaded of={caches.pages}>
        {() =>
          caches.list.length > 0 ? (
            <Table
              label={areaWords.tabs.caches}
              rows={caches.list}
              columns={columns}
              keyOf={({ cacheId }) => cacheId}
            />
          ) : prefix === "" ? (
            <Blank icon={archive} title={texts.none}>
              {texts.noneText}
            </Blank>
          ) : (
            <p class={styles["quiet"]}>{texts.noneFiltered}</p>
          )
        }
      </Loaded>
      <MoreButton of={caches} />
      {isAsking ? (
        <ConfirmDialog
          title={texts.removeAllTitle}
          text={texts.removeAllText}
          action={texts.removeAll(prefix)}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            const { deleted } = await api.delete("/projects/{projectId}/caches", { path, query: { prefix } });
            tell(texts.removedAll(deleted));
            caches.reload();
          }}
        />
      ) : null}
    </Section>
  );
}
