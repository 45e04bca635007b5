/** The page about capacity: what it shows of the record. Pure. */
import { readCommandLine } from "./command-line.ts";
import { STORES, type StoreRecord } from "./model.ts";
import { checkTable, costTable, recordOf, reportOf } from "./report.ts";

/** A command that the page shows, with what it prints. */
const SHOWN = /(```text\nnpm run capacity -- (.*)\n```\n\n.*\n\n```text\n)[^]*?(\n```)/;

/** The page with its output and its tables made again from the record. Throws when the page has no place for one of them. */
export function renewed(page: string, records: readonly StoreRecord[]): string {
  const output = replaced(page, SHOWN, (before, args, after) => {
    const { load } = readCommandLine(args.split(" "))!;
    return `${before}${reportOf(records, load)}${after}`;
  });
  const tables = [
    ...STORES.map((store) => [store, costTable(recordOf(records, store))] as const),
    ["checks", checkTable(records)] as const,
  ];
  return tables.reduce((text, [name, table]) => withTable(text, name, table), output);
}

function withTable(page: string, name: string, table: string): string {
  const place = new RegExp(`(<!-- table: ${name} -->)[^]*?(<!-- end -->)`);
  return replaced(page, place, (begin, end) => `${begin}\n\n${table}\n\n${end}`);
}

function replaced(page: string, place: RegExp, by: (...parts: string[]) => string): string {
  if (!place.test(page)) throw new Error(`the page has no place ${place}`);
  return page.replace(place, (_, ...parts: string[]) => by(...parts));
}
