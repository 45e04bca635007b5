/** A row of the table of settings, and the groups of its rows. */
export interface Setting {
  readonly group: SettingGroup;
  /** The default, as an operator would write it; null when no text can say it. */
  readonly standard: string | null;
  /** What a missing value means, in Markdown; present when `standard` is null. */
  readonly without?: string;
  /** What the setting means, in Markdown. Links are relative to docs/. */
  readonly meaning: string;
}

/** The groups of settings, in the order of the page. */
export const SETTING_GROUPS = [
  "Roles and addresses",
  "Redis and the store",
  "The installation as a whole",
  "Keys and tokens",
  "TLS of the listeners",
  "Quotas",
  "Retention",
  "Logs",
  "Artifacts and caches",
  "Traces",
  "Telling others",
  "Definitions in Git",
  "Nodes and agents",
  "Agents",
  "Commands",
] as const;
export type SettingGroup = (typeof SETTING_GROUPS)[number];
