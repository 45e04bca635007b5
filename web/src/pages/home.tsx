/** What needs the reader. */
import { Page } from "../parts/page.tsx";
import { words } from "../words.ts";

export function HomePage() {
  return <Page title={words.nav.home}>{null}</Page>;
}
