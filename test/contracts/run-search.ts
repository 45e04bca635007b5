/** The contract of searches for runs. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { asId, newId, type ProjectId } from "../../src/domain/ids.ts";
import type { RunStatus } from "../../src/domain/status.ts";
import type { Aggregate, RunSearch } from "../../src/stores/ports/aggregates.ts";
import type { ListKey } from "../../src/stores/ports/pages.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { sampleAggregate } from "./samples.ts";

const STATUSES: readonly RunStatus[] = ["pending", "running", "failed"];
const KINDS = ["manual", "cron", "event"] as const;
const FIRST_AT = 9_000_000;

export function runSearchContract(open: () => Stores): void {
  describe("searches for runs", () => {
    const projects = [asId<ProjectId>(newId("prj")), asId<ProjectId>(newId("prj"))] as const;
    const pipelines = [newId("pl"), newId("pl"), newId("pl")] as const;
    const users = [newId("usr"), newId("usr")] as const;
    const refs = [`main-${newId("usr")}`, `release-${newId("usr")}`] as const;
    const made: Aggregate[] = [];
    before(async () => {
      for (let nth = 0; nth < 48; nth++) {
        const aggregate = sampleAggregate({ pipelineId: pipelines[nth % 3]!, now: FIRST_AT + Math.floor(nth / 2) });
        const { head } = aggregate;
        made.push({
          ...aggregate,
          head: {
            ...head,
            summary: { ...head.summary, projectId: projects[nth % 3 === 0 ? 0 : 1], status: STATUSES[(nth % 5) % 3]! },
            origin: {
              ...head.origin,
              trigger: { kind: KINDS[(nth % 7) % 3]!, ref: refs[nth % 4 === 0 ? 1 : 0] },
              triggeredBy: users[nth % 6 === 0 ? 1 : 0],
            },
          },
        });
        await open().aggregates.create(made.at(-1)!);
      }
    });

    const all: RunSearch = { projectIds: projects };
    const searches: readonly RunSearch[] = [
      all,
      { ...all, statuses: ["failed", "running"] },
      { ...all, statuses: [] },
      { projectIds: [] },
      { projectIds: [projects[0]] },
      { pipelineId: pipelines[1] },
      { pipelineId: pipelines[1], statuses: ["failed"] },
      { pipelineId: pipelines[1], statuses: STATUSES, trigger: "cron", projectIds: [projects[1]] },
      { pipelineId: pipelines[1], projectIds: [projects[0]] },
      { triggeredBy: users[1] },
      { triggeredBy: users[0], ref: refs[1], statuses: ["pending"] },
      { ref: refs[1] },
      { ref: refs[0], trigger: "event" },
      { statuses: ["failed"], from: FIRST_AT + 3, before: FIRST_AT + 11 },
      { trigger: "cron", from: FIRST_AT, before: FIRST_AT + 100 },
      { from: FIRST_AT + 3, before: FIRST_AT + 11 },
      {
        from: FIRST_AT,
        before: FIRST_AT + 9,
        projectIds: [...projects, ...Array.from({ length: 20 }, () => asId<ProjectId>(newId("prj")))],
      },
      { triggeredBy: "unknown" },
    ];
    for (const search of searches) {
      it(`find what the conditions say, page by page: ${Object.keys(search).join(", ")} ${(search.statuses ?? []).join(" ")}`, async () => {
        const expected = made
          .filter(({ head }) => isFound(search, head))
          .map(({ head }) => head)
          .toSorted((a, b) => b.summary.createdAt - a.summary.createdAt || (a.rootId < b.rootId ? 1 : -1));
        const found = [];
        let after: ListKey | undefined;
        for (let pages = 0; pages < 60; pages++) {
          const page = await open().aggregates.findRuns(search, { limit: 7, after });
          expect(page.list.length).to.be.at.most(7);
          found.push(...page.list);
          if (page.next === null) break;
          after = page.next;
        }
        // Other tests of this engine may have stored runs of the same times, triggers and statuses.
        const ids = new Set<string>(made.map(({ head }) => head.rootId));
        expect(found.filter(({ rootId }) => ids.has(rootId)).map(({ rootId }) => rootId)).to.deep.equal(
          expected.map(({ rootId }) => rootId),
        );
        for (const head of found) expect(isFound(search, head)).to.equal(true);
      });
    }

    it("find all runs that the caller does not know", async () => {
      const ids = new Map<string, boolean>(made.map(({ head }, nth) => [head.rootId, nth % 4 === 0]));
      const found = new Set<string>();
      let after: ListKey | undefined;
      do {
        const search = { from: FIRST_AT, before: FIRST_AT + 100 };
        const page = await open().aggregates.findRuns(search, {
          limit: 5,
          after,
          isKnown: (runId) => ids.get(runId) === false,
        });
        for (const { rootId } of page.list) found.add(rootId);
        after = page.next ?? undefined;
      } while (after !== undefined);
      for (const [id, isWanted] of ids) if (isWanted) expect(found).to.include(id);
    });
  });
}

function isFound(search: RunSearch, { summary, origin }: Aggregate["head"]): boolean {
  const { pipelineId, projectIds, statuses, triggeredBy, ref, trigger, from, before } = search;
  return (
    (pipelineId ?? summary.pipelineId) === summary.pipelineId &&
    (projectIds?.includes(summary.projectId) ?? true) &&
    (statuses?.includes(summary.status) ?? true) &&
    (triggeredBy ?? origin.triggeredBy) === origin.triggeredBy &&
    (ref ?? origin.trigger.ref) === origin.trigger.ref &&
    (trigger ?? origin.trigger.kind) === origin.trigger.kind &&
    summary.createdAt >= (from ?? 0) &&
    summary.createdAt < (before ?? Number.MAX_SAFE_INTEGER)
  );
}
