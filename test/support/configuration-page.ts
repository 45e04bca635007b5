/** The tables of docs/configuration.md; `npm run generate` writes them from the table of settings. */
import { AGENT_SETTINGS } from "../../src/settings/agent-file.ts";
import type { Setting, SettingGroup } from "../../src/settings/setting.ts";
import { SETTINGS } from "../../src/settings/table.ts";
import { RUNTIME_SETTINGS, SETTING_KEYS, shownValue } from "../../src/app/setting-table.ts";
import { renderTable } from "./markdown-table.ts";

const OPTIONS = new Map<string, string>(Object.entries(AGENT_SETTINGS).map(([option, variable]) => [variable, option]));

/** The page, with a table of the group's settings between each `<!-- settings: group -->` and `<!-- end -->`. */
export function deriveConfigurationPage(page: string): string {
  return page
    .replaceAll(/(<!-- settings: (.+?) -->\n).*?(<!-- end -->)/gs, (_, begin: string, group: string, end) => {
      return `${begin}\n${renderTable(rowsOf(group as SettingGroup))}\n\n${end}`;
    })
    .replace(/(<!-- runtime settings -->\n).*?(<!-- end -->)/s, (_, begin: string, end: string) => {
      return `${begin}\n${renderTable(runtimeRows())}\n\n${end}`;
    });
}

function runtimeRows(): readonly (readonly string[])[] {
  const rows = SETTING_KEYS.map((key) => {
    const { type, about, variable, standard, stricter } = RUNTIME_SETTINGS[key];
    const initial =
      variable === null
        ? `\`${JSON.stringify(shownValue(standard!)).replaceAll('"', "")}\``
        : `that of \`${variable}\``;
    return [`\`${key}\``, type, initial, `${about}${stricter === null ? "" : " Strict."}`];
  });
  return [["Setting", "Value", "Default", "Meaning"], ...rows];
}

/** A group with settings that a key of the agent's config file can set too has one more column, which names the key. */
function rowsOf(group: SettingGroup): readonly (readonly string[])[] {
  const settings = (Object.entries(SETTINGS) as [string, Setting][]).filter(([, setting]) => setting.group === group);
  const hasOptions = settings.some(([name]) => OPTIONS.has(name));
  const rows = settings.map(([name, { standard, without = "", meaning }]) => {
    const option = OPTIONS.has(name) ? `\`${OPTIONS.get(name)}\`` : "";
    return [`\`${name}\``, ...(hasOptions ? [option] : []), standard === null ? without : `\`${standard}\``, meaning];
  });
  return [["Variable", ...(hasOptions ? ["Option and key of an agent"] : []), "Default", "Meaning"], ...rows];
}
