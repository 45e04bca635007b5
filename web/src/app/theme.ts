/** The theme: that of the system, or the one that the reader has chosen on this machine. */
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "millrace.theme";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>("system");

export function startTheme(): void {
  const kept = localStorage.getItem(KEY);
  chooseTheme(THEMES.find((word) => word === kept) ?? "system");
}

export function chooseTheme(next: Theme): void {
  theme.value = next;
  if (next === "system") {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset["theme"];
  } else {
    localStorage.setItem(KEY, next);
    document.documentElement.dataset["theme"] = next;
  }
}

export function turnTheme(): void {
  chooseTheme(THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system");
}
