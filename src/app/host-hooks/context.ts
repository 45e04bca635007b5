/** The application context, narrowed to what this folder uses. */
import type { AppContext } from "../context.ts";
import type { CatalogueContext } from "../catalogue/context.ts";
import type { HookContext } from "../hooks/context.ts";

export type HostHookContext = CatalogueContext & HookContext & Pick<AppContext, "publicUrl">;
