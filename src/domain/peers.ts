/** What the decision of an actor may look at besides its own state. */
import type { OutputsReader } from "./outputs.ts";

export interface Peers {
  /** The state of another actor of the aggregate, as it stands in the turn; undefined for one that is not there. */
  state(id: string): unknown;
  readonly outputs: OutputsReader;
}
