/** The parts that projects and tenants share. */
import type { Area } from "./area.ts";
import { Members } from "./members.tsx";
import { ServiceAccounts } from "./service-accounts.tsx";
import { Settings } from "./settings.tsx";
import { Variables } from "./variables.tsx";
import { Webhook } from "./webhook.tsx";
import { Webhooks } from "./webhooks.tsx";

/** Nothing for a part that only one of the two has. `item`: the id of what is shown of the part. */
export function AreaPart({
  name,
  area,
  item,
}: {
  readonly name: string | undefined;
  readonly area: Area;
  readonly item: string | undefined;
}) {
  switch (name) {
    case "members":
      return <Members area={area} />;
    case "accounts":
      return area.kind === "installation" ? null : <ServiceAccounts owner={area} />;
    case "variables":
      return <Variables area={area} />;
    case "settings":
      return <Settings area={area} />;
    case "webhooks":
      return item === undefined ? <Webhooks area={area} /> : <Webhook area={area} webhookId={item} />;
    default:
      return null;
  }
}
