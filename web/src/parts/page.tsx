/** The head of a page, and the sections that it has. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { words } from "../words.ts";
import styles from "./page.module.css";

/** Sets the title of the window. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? words.product : `${title} · ${words.product}`;
  }, [title]);
}

export function Page({
  title,
  windowTitle,
  crumbs,
  about,
  actions,
  children,
}: {
  readonly title: ComponentChildren;
  /** Needed when `title` is no text. */
  readonly windowTitle?: string;
  /** Links to the pages above, each with its text. */
  readonly crumbs?: readonly (readonly [href: string, text: string])[];
  readonly about?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  useTitle(windowTitle ?? (typeof title === "string" ? title : ""));
  return (
    <div class={styles["page"]}>
      <header class={styles["head"]}>
        <div class={styles["titles"]}>
          {crumbs === undefined ? null : (
            <p class={styles["crumbs"]}>
              {crumbs.map(([href, text]) => (
                <span key={href}>
                  <a href={href}>{text}</a> /{" "}
                </span>
              ))}
            </p>
          )}
          <h1 tabIndex={-1}>{title}</h1>
          {about === undefined ? null : <div class={styles["about"]}>{about}</div>}
        </div>
        {actions === undefined ? null : <div class={styles["actions"]}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Section({
  title,
  aside,
  children,
}: {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class={styles["section"]} aria-label={title}>
      <div class={styles["sectionHead"]}>
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

/** A surface with a border. */
export function Panel({
  children,
  padded = false,
}: {
  readonly children: ComponentChildren;
  readonly padded?: boolean;
}) {
  return (
    <div class={styles["panel"]} data-padded={padded}>
      {children}
    </div>
  );
}

/** Names with their values, one a line. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class={styles["facts"]}>
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
