/** A simulated Redis with all that the parts of millrace keep in it. */
import type { Draws } from "../engine/draws.ts";
import type { Scheduler } from "../engine/scheduler.ts";
import type { Service } from "../engine/service.ts";
import type { Trace } from "../engine/trace.ts";
import { Beats } from "./beats.ts";
import { Channels } from "./channels.ts";
import { Leases } from "./leases.ts";
import { Mailboxes } from "./mailboxes.ts";
import { Offers } from "./offers.ts";
import { Vacancies } from "./vacancies.ts";

export class RedisServer {
  readonly service: Service;
  readonly mailboxes: Mailboxes;
  readonly leases: Leases;
  readonly offers: Offers;
  readonly vacancies: Vacancies;
  readonly beats: Beats;
  readonly channels = new Channels();
  readonly draws: Draws;
  readonly scheduler: Scheduler;
  readonly #trace: Trace;
  #runId: string;

  constructor(scheduler: Scheduler, draws: Draws, trace: Trace, service: Service, shards: number) {
    this.scheduler = scheduler;
    this.draws = draws;
    this.#trace = trace;
    this.service = service;
    const now = (): number => Math.floor(scheduler.now);
    this.mailboxes = new Mailboxes(shards);
    this.leases = new Leases(now);
    this.offers = new Offers(now);
    this.vacancies = new Vacancies(now, this.offers);
    this.beats = new Beats(now);
    this.#runId = draws.name("redis");
  }

  get runId(): string {
    return this.#runId;
  }

  /** Removes all data, as `FLUSHALL` does. */
  empty(): void {
    this.#trace.note(() => "Redis is emptied");
    for (const part of [this.mailboxes, this.leases, this.offers, this.vacancies, this.beats]) part.empty();
  }

  /** Another process with the same data, or without. */
  restart(isEmptied: boolean): void {
    this.#trace.note(() => "Redis is restarted");
    this.#runId = this.draws.name("redis");
    if (isEmptied) this.empty();
  }
}
