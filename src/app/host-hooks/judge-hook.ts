/** What is wrong with the webhooks that a host has for one address. Pure. */
import type { HostHook } from "../../providers/provider.ts";

export const HOST_HOOK_PROBLEMS = ["missing", "doubled", "inactive", "address", "events", "failing"] as const;

export interface HostHookProblem {
  readonly code: (typeof HOST_HOOK_PROBLEMS)[number];
  readonly message: string;
}

/** The webhooks of an inbound hook, under whatever address of this installation; the first one is the one to keep. */
export function hooksFor(all: readonly HostHook[], address: string): readonly HostHook[] {
  const path = new URL(address).pathname;
  const own = all.filter(({ url }) => url === address);
  const moved = all.filter(({ url }) => url !== address && URL.canParse(url) && new URL(url).pathname === path);
  return [...own, ...moved];
}

/** Empty when the host has one webhook for the address, and it is as it should be. */
export function problemsOf(found: readonly HostHook[], address: string): readonly HostHookProblem[] {
  const [hook, ...others] = found;
  if (hook === undefined) return [{ code: "missing", message: "the host has no webhook for the address" }];
  const problems: HostHookProblem[] = [];
  if (others.length > 0) {
    problems.push({ code: "doubled", message: `the host has ${found.length} webhooks for the address: one is enough` });
  }
  if (hook.url !== address) problems.push({ code: "address", message: `the webhook calls ${hook.url}` });
  if (!hook.isActive) problems.push({ code: "inactive", message: "the host has switched the webhook off" });
  if (hook.missing.length > 0) {
    problems.push({ code: "events", message: `the webhook lacks: ${hook.missing.join(", ")}` });
  }
  const { lastStatus } = hook;
  if (lastStatus !== null && (lastStatus < 200 || lastStatus > 299)) {
    problems.push({ code: "failing", message: `the last delivery was answered with the status ${lastStatus}` });
  }
  return problems;
}
