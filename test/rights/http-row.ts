import type { UserOperation } from "../../src/app/identity/access.ts";
import type { World } from "./world.ts";

/** A route with the operation that it needs, and a call that shows whether the caller may. */
export interface HttpRow {
  /** Method and path of the route, as the router has it, without the prefix. */
  readonly route: string;
  /** `open`: needs no token. `anybody`: any user. `job`: no user at all. */
  readonly operation: UserOperation | "open" | "anybody" | "job";
  /** The values of the parameters in the path and in the query. */
  readonly at?: (world: World) => Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: (world: World) => object;
  /** Makes what a call that is allowed takes away. */
  readonly prepare?: (world: World) => Promise<void>;
  /**
   * `list`: it lists over several projects, so that no caller is refused; what the caller may not see is not in the list.
   * `filtered`: as `list`, and refused to callers whose roles are all too low.
   * `own`: about the caller's own account. `absent`: what it names does not exist. `inBody`: the body names the project or the tenant,
   * so what the caller may not see is a malformed request.
   */
  readonly kind?: "list" | "filtered" | "absent" | "inBody";
}
