import { expect } from "chai";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { aggregateStoreContract } from "../contracts/aggregate-store.ts";
import { deliveryStoreContract } from "../contracts/delivery-store.ts";
import { documentStoreContract } from "../contracts/document-store.ts";
import { hookStoreContract } from "../contracts/hook-store.ts";
import { operationStoresContract } from "../contracts/operation-stores.ts";
import { outputStoreContract } from "../contracts/output-store.ts";
import { eventStoreContract, inboxContract, planStoreContract } from "../contracts/record-stores.ts";
import { boardContract, type BoardHarness } from "../contracts/board.ts";
import { vacancyContract } from "../contracts/vacancies.ts";
import { presenceContract } from "../contracts/presence.ts";
import { NO_QUOTAS } from "../../src/domain/quotas.ts";
import type { Call } from "./engine/service.ts";
import { Beats } from "./redis/beats.ts";
import { Channels } from "./redis/channels.ts";
import { Offers } from "./redis/offers.ts";
import { boardOf, presenceOf } from "./redis/redis-ports.ts";
import { Vacancies } from "./redis/vacancies.ts";
import { storesOf } from "./store/store-client.ts";
import { StoreServer } from "./store/store-server.ts";

/** A call that arrives, and whose answer comes, a little later. */
const call: Call = async (_, apply) => {
  await Promise.resolve();
  return apply();
};

describe("the simulated store", () => {
  let stores: Stores;
  const missing: string[] = [];
  before(() => void (stores = storesOf(new StoreServer(), call, (name) => missing.push(name)) as Stores));
  after(() => expect(missing).to.deep.equal([]));

  aggregateStoreContract(() => stores);
  planStoreContract(() => stores);
  inboxContract(() => stores);
  eventStoreContract(() => stores);
  operationStoresContract(() => stores);
  outputStoreContract(() => stores);
  hookStoreContract(() => stores);
  deliveryStoreContract(() => stores);
  documentStoreContract(() => stores);
});

describe("the simulated board", () => {
  let now: number;
  let data: { readonly offers: Offers; readonly vacancies: Vacancies; readonly channels: Channels };
  beforeEach(() => {
    now = 1_700_000_000_000;
    const offers = new Offers(() => now);
    data = { offers, vacancies: new Vacancies(() => now, offers), channels: new Channels() };
  });

  const harness: BoardHarness = {
    open: (quotas = NO_QUOTAS) =>
      boardOf(
        data,
        call,
        {
          subscribe: (channel, listener) => {
            const subscriber = { receive: listener };
            data.channels.subscribe(channel, subscriber);
            return Promise.resolve(() => Promise.resolve(data.channels.unsubscribe(channel, subscriber)));
          },
        },
        quotas,
      ),
    later: (_, look) => passing((ms) => (now += ms), look),
  };
  boardContract(harness);
  describe("with vacancies", () => vacancyContract(harness));
});

describe("the simulated presence", () => {
  let now: number;
  let beats: Beats;
  beforeEach(() => {
    now = 1_700_000_000_000;
    beats = new Beats(() => now);
  });

  presenceContract({
    open: () => presenceOf(beats, call),
    later: (_, look) => passing((ms) => (now += ms), look),
  });
});

/** Lets time pass until `look` finds something. */
async function passing<T>(pass: (ms: number) => void, look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    pass(1);
  }
}
