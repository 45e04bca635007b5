/** The table of docs/roles.md; `npm run generate` writes it from the table of operations. */
import { type OperationRule, USER_OPERATIONS } from "../../src/app/identity/operations.ts";
import { ROLES } from "../../src/domain/roles.ts";

/** The page, with one row for each operation between `<!-- operations -->` and `<!-- end -->`. */
export function deriveRolesPage(page: string): string {
  const rows = Object.entries<OperationRule>(USER_OPERATIONS).map(([operation, { role, reach, width }]) => {
    const needed = ROLES.map((one) => (reach === "own" || ROLES.indexOf(one) <= ROLES.indexOf(role) ? "yes" : ""));
    return `| \`${operation}\` | ${reach} | ${needed.join(" | ")} | ${width} |`;
  });
  const head = `| Operation | Where the role counts | ${ROLES.join(" | ")} | Scope of the token |`;
  const line = `| --- | --- | ${ROLES.map(() => "---").join(" | ")} | --- |`;
  return page.replace(/(<!-- operations -->\n).*?(<!-- end -->)/s, (_, begin: string, end: string) => {
    return `${begin}\n${[head, line, ...rows].join("\n")}\n\n${end}`;
  });
}
