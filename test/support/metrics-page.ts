/** The tables of docs/metrics.md; `npm run generate` writes them from the table of families. */
import { FAMILIES, type Family, type Source } from "../../src/telemetry/families.ts";
import { renderTable } from "./markdown-table.ts";

/** The page, with one table for each source between `<!-- families: SOURCE -->` and `<!-- end -->`. */
export function deriveMetricsPage(page: string): string {
  return page.replace(
    /(<!-- families: (\w+) -->\n).*?(<!-- end -->)/gs,
    (_, begin: string, source: Source, end: string) => `${begin}\n${tableOf(source)}\n\n${end}`,
  );
}

function tableOf(source: Source): string {
  const rows = Object.entries<Family>(FAMILIES)
    .filter(([, { from }]) => from === source)
    .map(([name, { type, help, labels }]) => {
      const described = Object.entries(labels).map(([label, values]) => `\`${label}\`: ${values}`);
      return [`\`${name}\``, type, help, described.join("; ")];
    });
  return renderTable([["Family", "Type", "Meaning", "Labels"], ...rows]);
}
