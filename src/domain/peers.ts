/** What an actor may read for a decision besides its own state. */
import type { OutputsReader } from "./outputs.ts";
import type { WorkBudget } from "./work/work-budget.ts";

export interface Peers {
  /** The state of another actor of the aggregate at this point of the turn; undefined when there is no such actor. */
  state(id: string): unknown;
  /**
   * Number of actors of the aggregate that count under this key at this point of the turn, the deciding actor included;
   * see `ActorKind.countedAs`.
   */
  count(key: string): number;
  readonly outputs: OutputsReader;
  /** The epoch under which the owner decides; fencing tokens of new grants are above it. Absent: 0. */
  readonly epoch?: number;
  /** What the expressions may still cost that the present message and its consequences evaluate. Absent: no bound. */
  readonly work?: WorkBudget;
}
