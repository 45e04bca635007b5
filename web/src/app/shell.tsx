/** The frame of every page: navigation, project, connection, theme, keys and palette. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import home from "lucide-static/icons/house.svg?raw";
import play from "lucide-static/icons/circle-play.svg?raw";
import workflow from "lucide-static/icons/workflow.svg?raw";
import stamp from "lucide-static/icons/stamp.svg?raw";
import server from "lucide-static/icons/server.svg?raw";
import folder from "lucide-static/icons/folder.svg?raw";
import puzzle from "lucide-static/icons/puzzle.svg?raw";
import network from "lucide-static/icons/network.svg?raw";
import shield from "lucide-static/icons/shield.svg?raw";
import user from "lucide-static/icons/circle-user.svg?raw";
import menu from "lucide-static/icons/menu.svg?raw";
import keyboard from "lucide-static/icons/keyboard.svg?raw";
import search from "lucide-static/icons/search.svg?raw";
import sun from "lucide-static/icons/sun.svg?raw";
import moon from "lucide-static/icons/moon.svg?raw";
import monitor from "lucide-static/icons/monitor.svg?raw";
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { useLive } from "../live/use-live.ts";
import { Icon } from "../parts/icon.tsx";
import { words } from "../words.ts";
import { ConnectionSign } from "./connection-sign.tsx";
import { listenToKeys, useKeys } from "./keys.ts";
import { KeyHelp } from "./key-help.tsx";
import { mayLeave } from "./leaving.ts";
import { Menu } from "./menu.tsx";
import { Palette } from "./palette.tsx";
import { chooseProject, currentProject, may, projects, session, waitsForReader } from "./session.ts";
import { type Theme, theme, turnTheme } from "./theme.ts";
import styles from "./shell.module.css";

interface Place {
  readonly href: string;
  readonly name: string;
  readonly icon: string;
}

const PLACES: readonly Place[] = [
  { href: "/", name: words.nav.home, icon: home },
  { href: "/runs", name: words.nav.runs, icon: play },
  { href: "/pipelines", name: words.nav.pipelines, icon: workflow },
  { href: "/approvals", name: words.nav.approvals, icon: stamp },
  { href: "/agents", name: words.nav.agents, icon: server },
];

/** Places that not every reader may see, with the keys that lead there. */
function furtherPlaces(): readonly (Place & { readonly keys: string; readonly does: string })[] {
  const isAdmin = may("manageUsers") || may("readAudit") || may("createTenants");
  return [
    { href: "/projects", name: words.nav.projects, icon: folder, keys: "g o", does: words.keys.goProjects },
    ...(may("readPlugins")
      ? [{ href: "/plugins", name: words.nav.plugins, icon: puzzle, keys: "g u", does: words.keys.goPlugins }]
      : []),
    ...(may("readCluster")
      ? [{ href: "/cluster", name: words.nav.cluster, icon: network, keys: "g c", does: words.keys.goCluster }]
      : []),
    ...(isAdmin
      ? [{ href: "/admin", name: words.nav.admin, icon: shield, keys: "g d", does: words.keys.goAdmin }]
      : []),
  ];
}

const THEME_ICONS: Readonly<Record<Theme, string>> = { system: monitor, light: sun, dark: moon };

export function Shell({ children }: { readonly children: ComponentChildren }) {
  const { path, route: follow } = useLocation();
  const route = (href: string) => {
    if (mayLeave()) follow(href);
  };
  const waiting = useWaitingApprovals();
  const [open, setOpen] = useState<"help" | "palette" | "menu" | undefined>(undefined);
  const further = furtherPlaces();
  useEffect(listenToKeys, []);
  useKeys(
    [
      { keys: "?", does: words.keys.help, run: () => setOpen("help") },
      { keys: "mod+k", does: words.keys.palette, inFields: true, run: () => setOpen("palette") },
      { keys: "g h", does: words.keys.goHome, run: () => route("/") },
      { keys: "g r", does: words.keys.goRuns, run: () => route("/runs") },
      { keys: "g p", does: words.keys.goPipelines, run: () => route("/pipelines") },
      { keys: "g a", does: words.keys.goApprovals, run: () => route("/approvals") },
      { keys: "g n", does: words.keys.goAgents, run: () => route("/agents") },
      ...further.map(({ keys, does, href }) => ({ keys, does, run: () => route(href) })),
      { keys: "g m", does: words.keys.goAccount, run: () => route("/me") },
      { keys: "/", does: words.keys.filter, run: focusFilter },
      { keys: "j", does: words.keys.next, run: () => stepRow(1) },
      { keys: "k", does: words.keys.previous, run: () => stepRow(-1) },
    ],
    { isGlobal: true },
  );
  const isHere = (href: string) => (href === "/" ? path === "/" : path === href || path.startsWith(`${href}/`));
  const link = ({ href, name, icon }: Place) => (
    <a key={href} href={href} aria-current={isHere(href) ? "page" : undefined}>
      <Icon svg={icon} />
      <span>{name}</span>
      {href === "/approvals" && waiting > 0 ? (
        <span class={styles["badge"]} title={words.approvals.waitForYou(waiting)}>
          {waiting}
        </span>
      ) : null}
    </a>
  );
  return (
    <div class={styles["shell"]}>
      <a class={styles["skip"]} href="#content">
        {words.nav.skip}
      </a>
      <div class={styles["side"]}>
        <button
          type="button"
          class={styles["menu"]}
          aria-label={words.nav.menu}
          title={words.nav.menu}
          aria-haspopup="dialog"
          onClick={() => setOpen("menu")}
        >
          <Icon svg={menu} />
        </button>
        <a class={styles["brand"]} href="/">
          <Mark />
          <span>{words.product}</span>
        </a>
        <button type="button" class={styles["search"]} onClick={() => setOpen("palette")}>
          <Icon svg={search} size={14} />
          <span>{words.keys.palette}</span>
          <kbd>{/Mac|iP/.test(navigator.platform) ? "⌘K" : "Ctrl K"}</kbd>
        </button>
        {projects.value.length > 1 ? <ProjectSwitch /> : null}
        <nav class={styles["nav"]} aria-label={words.nav.label}>
          {PLACES.map(link)}
        </nav>
        <nav class={styles["further"]} aria-label={words.nav.further}>
          {further.map(link)}
        </nav>
        <div class={styles["foot"]}>
          <ConnectionSign />
          <div class={styles["tools"]}>
            <a href="/me" aria-current={isHere("/me") ? "page" : undefined} title={words.nav.me}>
              <Icon svg={user} />
              <span>{session.value?.user.name}</span>
            </a>
            <button
              type="button"
              aria-label={words.theme.next(words.theme[theme.value])}
              title={words.theme.next(words.theme[theme.value])}
              onClick={turnTheme}
            >
              <Icon svg={THEME_ICONS[theme.value]} />
            </button>
            <button type="button" aria-label={words.keys.open} title={words.keys.open} onClick={() => setOpen("help")}>
              <Icon svg={keyboard} />
            </button>
          </div>
        </div>
      </div>
      <main id="content" class={styles["main"]} tabIndex={-1}>
        {children}
      </main>
      {open === "help" ? <KeyHelp onClose={() => setOpen(undefined)} /> : null}
      {open === "menu" ? (
        <Menu onClose={() => setOpen(undefined)}>
          {[...PLACES, ...further, { href: "/me", name: words.nav.me, icon: user }].map(link)}
        </Menu>
      ) : null}
      {open === "palette" ? <Palette places={[...PLACES, ...further]} onClose={() => setOpen(undefined)} /> : null}
    </div>
  );
}

/** How many approvals wait for the reader. Every page follows them, so that every page knows whether it is connected. */
function useWaitingApprovals(): number {
  const projectId = currentProject.value?.projectId;
  const scope = projectId === undefined ? {} : { projectId };
  const approvals = useResource(
    (signal) => api.get("/approvals", { query: { ...scope, status: "pending", pageSize: 100 }, signal }),
    [projectId],
  );
  useLive({ channel: "channel_approvals", params: scope }, ({ type }) => {
    if (type === "approval" || type === "removed") approvals.reload();
  });
  return approvals.value?.list.filter(waitsForReader).length ?? 0;
}

function ProjectSwitch() {
  return (
    <label class={styles["project"]}>
      <span class={styles["quiet"]}>{words.nav.project}</span>
      <select
        value={currentProject.value?.projectId ?? ""}
        onChange={(event) => chooseProject(event.currentTarget.value)}
      >
        <option value="">{words.nav.allProjects}</option>
        {projects.value.map(({ projectId, name }) => (
          <option key={projectId} value={projectId}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The wheel of a mill above its race. */
function Mark() {
  return (
    <svg class={styles["mark"]} viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="9.5" r="6.5" />
      <path class={styles["spokes"]} d="M12 3v13M5.500 9.500h13M7.400 4.900l9.200 9.200M16.600 4.900l-9.200 9.200" />
      <path d="M2 20.500c1.700-1.600 3.300-1.600 5 0s3.300 1.600 5 0 3.300-1.600 5 0 3.300 1.600 5 0" />
    </svg>
  );
}

function focusFilter(): boolean {
  const field = document.querySelector<HTMLInputElement>("main [data-filter]");
  field?.focus();
  field?.select();
  return field !== null;
}

function stepRow(by: 1 | -1): boolean {
  const links = [...document.querySelectorAll<HTMLElement>("main [data-row-link]")];
  if (links.length === 0) return false;
  const at = links.findIndex((link) => link === document.activeElement);
  const next = links[at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return true;
}
