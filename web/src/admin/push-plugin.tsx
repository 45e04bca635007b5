/** Sends a package to the registry of plugins. */
import { useState } from "preact/hooks";
import { may, mayIn, projects, session } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { problemText } from "../api/errors.ts";
import styles from "../areas/areas.module.css";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { sizeText } from "../parts/time-texts.ts";
import { words } from "../words.ts";
import { adminWords } from "./admin-words.ts";

const texts = adminWords.plugins;
/** The largest package that the server takes. */
const MAX_BYTES = 32 * 1_024 * 1_024;
const PUSH_MS = 300_000;

/** Where the reader may push: the empty id is the installation. */
function targets(): readonly (readonly [projectId: string, name: string])[] {
  const own = session.value?.operations.includes("managePlugins") ?? false;
  return [
    ...(own ? [["", texts.scopes.installation] as const] : []),
    ...projects.value
      .filter((project) => mayIn("manageProjectPlugins", project))
      .map(({ projectId, name }) => [projectId, texts.inProject(name)] as const),
  ];
}

export const mayPush = (): boolean => may("managePlugins") || may("manageProjectPlugins");

export function PushDialog({
  projectId: chosen,
  onPushed,
  onClose,
}: {
  /** The project that is offered first; undefined for the installation. */
  readonly projectId: string | undefined;
  readonly onPushed: (release: Schemas["PluginRelease"]) => void;
  readonly onClose: () => void;
}) {
  const options = targets();
  const first = options.find(([id]) => id === (chosen ?? "")) ?? options[0];
  const [projectId, setProjectId] = useState(first?.[0] ?? "");
  const [file, setFile] = useState<File | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const push = async () => {
    if (file === undefined) return;
    setProblem("");
    if (file.size > MAX_BYTES) {
      setProblem(texts.tooLarge(sizeText(file.size), sizeText(MAX_BYTES)));
      return;
    }
    const call = { type: "application/gzip", body: file, timeoutMs: PUSH_MS };
    try {
      const release =
        projectId === ""
          ? await api.upload("/plugins", call)
          : await api.upload("/projects/{projectId}/plugins", { ...call, path: { projectId } });
      onPushed(release);
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  return (
    <Dialog
      title={texts.push}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.actions.cancel}</Button>
          <Button kind="primary" disabled={file === undefined} onClick={push}>
            {texts.pushIt}
          </Button>
        </>
      }
    >
      <p class={styles["about"]}>{texts.pushText}</p>
      <div class={styles["fields"]}>
        <label>
          {texts.target}
          <select value={projectId} onChange={(event) => setProjectId(event.currentTarget.value)}>
            {options.map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          {texts.package}
          <input
            type="file"
            accept=".tgz,.gz,application/gzip"
            onChange={(event) => setFile(event.currentTarget.files?.[0])}
          />
        </label>
      </div>
      {problem === "" ? null : (
        <p class={styles["bad"]} role="alert">
          {problem}
        </p>
      )}
    </Dialog>
  );
}
