/** The help: every key that is bound now. */
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { words } from "../words.ts";
import { type Binding, boundKeys, keysOn, switchKeys } from "./keys.ts";
import styles from "./key-help.module.css";

const texts = words.keys;

export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const { here, everywhere } = boundKeys();
  const native: readonly Binding[] = [
    { keys: "Enter", does: texts.openRow, run: () => false },
    { keys: "Esc", does: texts.close, run: () => false },
  ];
  const turn = <Button onClick={() => switchKeys(!keysOn.value)}>{keysOn.value ? texts.turnOff : texts.turnOn}</Button>;
  return (
    <Dialog title={texts.title} wide onClose={onClose} actions={turn}>
      <div class={styles["groups"]}>
        {here.length === 0 ? null : <Group title={texts.here} bindings={here} />}
        <Group title={texts.everywhere} bindings={[...everywhere, ...native]} />
      </div>
    </Dialog>
  );
}

/** As keyboards name it. */
function captionOf(key: string): string {
  if (key === "Escape") return "Esc";
  return key.startsWith("mod+") ? `Ctrl ${key.slice(4).toUpperCase()}` : key;
}

function Group({ title, bindings }: { readonly title: string; readonly bindings: readonly Binding[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl class={styles["keys"]}>
        {bindings.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{captionOf(key)}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
