import { expect } from "chai";
import type { Attendance, Lane } from "../../src/board/board.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { type AgentId, asId, type ProjectId } from "../../src/domain/ids.ts";
import { ANY_AGENT } from "../../src/domain/labels.ts";
import { ClaimQueue } from "../../src/gateway/claim-queue.ts";
import { silentLog } from "../support/kernel-ports.ts";

describe("the queue of claimants", () => {
  const LANE: Lane = { projectId: asId<ProjectId>("default"), priority: 0, selector: ANY_AGENT };
  let offered: (lane: Lane, count: number) => void;
  let woken: string[];
  let queue: ClaimQueue;

  beforeEach(async () => {
    woken = [];
    const attendance: Attendance = { lasts: true, offers: 0, ended: [] };
    const board = {
      attend: () => Promise.resolve(attendance),
      onOffered: (listener: typeof offered) => {
        offered = listener;
        return Promise.resolve(() => Promise.resolve());
      },
    };
    queue = new ClaimQueue({ board: board as never, clock: systemClock, log: silentLog });
    await queue.start();
  });
  afterEach(() => queue.stop());

  function join(name: string, free = 1): void {
    queue.join({
      agentId: asId<AgentId>(name),
      agent: { labels: {} },
      claims: { vacancies: 1, isAsking: false, hide: () => {} } as never,
      freeSlots: () => free,
      wake: () => void woken.push(name),
    });
  }

  it("wakes one claimant for each offer, and those that were woken last come last", () => {
    for (const name of ["a", "b", "c"]) join(name);
    offered(LANE, 1);
    offered(LANE, 1);
    expect(woken).to.deep.equal(["a", "b"]);
    offered(LANE, 2);
    expect(woken).to.deep.equal(["a", "b", "c", "a"]);
  });

  it("wakes each claimant once when there are more offers than claimants, and none without a free slot", () => {
    join("a");
    join("busy", 0);
    join("b");
    offered(LANE, 100);
    expect(woken).to.deep.equal(["a", "b"]);
  });
});
