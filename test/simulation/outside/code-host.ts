/** A model of the host of repositories: it takes commit statuses, and may be away or want to be left alone. */
import { GitFault } from "../../../src/git/git-fault.ts";
import type { CommitStatus, Provider } from "../../../src/providers/provider.ts";
import type { Process } from "../engine/process.ts";
import type { Service } from "../engine/service.ts";

export class CodeHost {
  readonly service: Service;
  /** All statuses that it was given, by commit and name: the last one is what people see. */
  readonly statuses = new Map<string, CommitStatus[]>();
  /** Until when it answers that it gets too many calls, by the clock that the caller passes. */
  busyUntil = 0;

  constructor(service: Service) {
    this.service = service;
  }

  /** The host, as one process reaches it. */
  openedBy(process: Process): Provider {
    const provider: Pick<Provider, "setStatus"> = {
      setStatus: (status) => {
        const what = `status ${status.commit.slice(0, 7)} ${status.name} ${status.state}`;
        const done = this.service.call(process, what, () => this.take(status, process.clock.monotonic()));
        return done.catch((error: unknown) => {
          throw error instanceof GitFault ? error : new GitFault("cutOff", String(error), { isOfApi: true });
        });
      },
    };
    return provider as Provider;
  }

  take(status: CommitStatus, now: number): void {
    if (now < this.busyUntil) {
      const retryAfterSeconds = Math.ceil((this.busyUntil - now) / 1_000);
      throw new GitFault("tooMany", "too many calls", { isOfApi: true, retryAfterSeconds });
    }
    const place = placeOf(status);
    this.statuses.set(place, [...(this.statuses.get(place) ?? []), status]);
  }
}

/** What a host keeps one status for. */
export function placeOf({ commit, name }: Pick<CommitStatus, "commit" | "name">): string {
  return `${commit} ${name}`;
}
