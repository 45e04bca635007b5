/** How an agent finds every process that a step has started. The order is that of preference. */
export const ISOLATION_KINDS = ["cgroup", "pid-namespace", "subreaper", "mark"] as const;
export type IsolationKind = (typeof ISOLATION_KINDS)[number];
