/** Removes deliveries with their bodies. */
import type { HookId, ProjectId } from "../../domain/ids.ts";
import type { ReceivedDelivery } from "../../stores/hooks/hook-store.ts";
import type { WithStores } from "../context.ts";

const AT_ONCE = 100;

type DropContext = WithStores<"hooks" | "blobs">;

/** Removes some deliveries of a hook or of a project, in any state; true when there may be more. */
export async function dropDeliveries(
  context: DropContext,
  of: { readonly hookId: HookId } | { readonly projectId: ProjectId },
): Promise<boolean> {
  const found = await context.stores.hooks.someDeliveries(of, AT_ONCE);
  for (const delivery of found) await removeDelivery(context, delivery);
  return found.length === AT_ONCE;
}

/** The body first: a record that is left leads to it again. */
export async function removeDelivery(
  { stores }: DropContext,
  { deliveryId }: Pick<ReceivedDelivery, "deliveryId">,
): Promise<void> {
  await stores.blobs.delete(deliveryId);
  await stores.hooks.removeDelivery(deliveryId);
}
