/** What a worker does beside its kernel: the real runner of hooks and the real dispatcher, on the timers of its process. */
import { HookRunner } from "../../../src/app/hooks/hook-runner.ts";
import type { HookRunContext } from "../../../src/app/hooks/context.ts";
import type { TellingContext } from "../../../src/app/webhooks/context.ts";
import { Dispatcher } from "../../../src/app/telling/dispatcher.ts";
import type { Process } from "../engine/process.ts";
import type { World } from "../engine/world.ts";
import { UPLOAD_RULES } from "../../support/upload-rules.ts";
import type { SimulatedPorts } from "../parts/simulated-ports.ts";
import { HOST_SECRETS, PUBLIC_URL } from "./reporting.ts";

export interface OutsideWork {
  stop(): Promise<void>;
}

/** `owned`: the shards that the worker owns. */
export function beginOutside(
  world: World,
  process: Process,
  ports: SimulatedPorts,
  owned: () => readonly number[],
): OutsideWork {
  const git = { openProvider: () => world.host.openedBy(process) };
  const context = {
    ...ports,
    git,
    secrets: HOST_SECRETS,
    newId: world.newId,
    publicUrl: PUBLIC_URL,
    uploadRules: UPLOAD_RULES,
  } as unknown as HookRunContext & TellingContext;
  const request = () => Promise.reject(new Error("the simulation has no outgoing webhooks"));
  const parts = [
    new HookRunner(context, owned, process.timers),
    new Dispatcher(context, owned, { request, mail: null }, process.timers),
  ];
  for (const part of parts) part.start();
  return { stop: async () => void (await Promise.all(parts.map((part) => part.stop()))) };
}
