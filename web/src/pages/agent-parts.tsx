/** What lists and the page of an agent share. */
import circle from "lucide-static/icons/circle.svg?raw";
import circleCheck from "lucide-static/icons/circle-check.svg?raw";
import circleMinus from "lucide-static/icons/circle-minus.svg?raw";
import circleOff from "lucide-static/icons/circle-off.svg?raw";
import type { Schemas } from "../api/client.ts";
import { Icon } from "../parts/icon.tsx";
import { words } from "../words.ts";
import styles from "./agent-parts.module.css";

export type Agent = Schemas["Agent"];

const texts = words.agents;

export function AgentState({ agent: { online, draining } }: { readonly agent: Agent }) {
  const state = online === null ? "unknown" : !online ? "offline" : draining ? "draining" : "online";
  const shape = { unknown: circle, offline: circleOff, draining: circleMinus, online: circleCheck }[state];
  return (
    <span class={styles["state"]} data-state={state}>
      <Icon svg={shape} /> {texts[state]}
    </span>
  );
}

/** A box for each job that the agent can take; a full box is a job that it runs. */
export function Slots({ agent: { busy, slots } }: { readonly agent: Agent }) {
  return (
    <span class={styles["slots"]}>
      <span class={styles["boxes"]} aria-hidden="true">
        {Array.from({ length: Math.min(slots, 8) }, (_, at) => (
          <span key={at} data-full={at < busy} />
        ))}
      </span>
      {texts.busy(busy, slots)}
    </span>
  );
}

/** What an agent finds out by itself. Such labels stand behind those that were given to it. */
const FOUND = new Set(["os", "arch", "hostname", "cores", "step-isolation", "container-engine"]);

export function Labels({ labels }: { readonly labels: Readonly<Record<string, string>> }) {
  const list = Object.entries(labels).toSorted(([a], [b]) => Number(FOUND.has(a)) - Number(FOUND.has(b)));
  return (
    <span class={styles["labels"]} title={list.map(([key, value]) => `${key}=${value}`).join(", ")}>
      {list.map(([key, value]) => (
        <code key={key}>
          {key}={value}
        </code>
      ))}
    </span>
  );
}
