/** Finds the definitions of a repository, and makes pipelines of those that the reader chooses. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import folder from "lucide-static/icons/folder-git-2.svg?raw";
import { mayIn, projects } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Button } from "../parts/button.tsx";
import { Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { StatusIcon } from "../parts/status.tsx";
import { tell } from "../parts/toast.tsx";
import { useSubmit } from "../parts/use-submit.ts";
import styles from "./pipeline.module.css";
import { pipelineWords } from "./pipeline-words.ts";

const texts = pipelineWords.connect;
const names = pipelineWords.settings;
type Discovery = Schemas["Discovery"];
type Provider = keyof typeof names.providers;
type SaveMode = keyof typeof names.saveModes;

interface Given {
  readonly repoUrl: string;
  readonly defaultBranch: string;
  readonly repoCredential: string;
  readonly saveMode: SaveMode;
  readonly repoProvider: Provider;
}

const NOTHING: Given = { repoUrl: "", defaultBranch: "", repoCredential: "", saveMode: "direct", repoProvider: "" };

export function ConnectRepository({
  projectId,
  children,
}: {
  readonly projectId: string;
  /** The choice of the project. */
  readonly children: ComponentChildren;
}) {
  const [given, setGiven] = useState(NOTHING);
  const [found, setFound] = useState<Discovery | undefined>(undefined);
  const set = (name: keyof Given) => (value: string) => {
    setGiven({ ...given, [name]: value });
    if (name === "repoUrl" || name === "defaultBranch" || name === "repoCredential") setFound(undefined);
  };
  const find = async () => {
    const body = sourceOf(given);
    setFound(await api.post("/projects/{projectId}/repository/discover", { path: { projectId }, body }));
  };
  const { submit, isRunning } = useSubmit(find);
  return (
    <>
      <form class={styles["form"]} onSubmit={submit}>
        {children}
        <label class={styles["field"]}>
          {names.repository}
          <input
            value={given.repoUrl}
            required
            autoFocus
            spellcheck={false}
            onInput={(event) => set("repoUrl")(event.currentTarget.value)}
          />
          <small>{names.repositoryHint}</small>
        </label>
        <div class={styles["pair"]}>
          <Credential projectId={projectId} value={given.repoCredential} onChange={set("repoCredential")} />
          <label class={styles["field"]}>
            {names.branch}
            <input
              value={given.defaultBranch}
              spellcheck={false}
              onInput={(event) => set("defaultBranch")(event.currentTarget.value)}
            />
            <small>{names.branchHint}</small>
          </label>
        </div>
        <div class={styles["pair"]}>
          <Choice label={names.saveMode} choices={names.saveModes} value={given.saveMode} onChange={set("saveMode")} />
          <Choice
            label={names.provider}
            choices={names.providers}
            value={given.repoProvider}
            onChange={set("repoProvider")}
          />
        </div>
        <span class={styles["buttons"]}>
          <Button type="submit" kind={found === undefined ? "primary" : "plain"} disabled={isRunning}>
            {texts.find}
          </Button>
        </span>
      </form>
      {found === undefined ? null : (
        <Files
          key={`${found.repoUrl} ${found.branch}`}
          projectId={projectId}
          given={given}
          found={found}
          onMade={find}
        />
      )}
    </>
  );
}

/** Without what the reader has left empty. */
function sourceOf({ repoUrl, defaultBranch, repoCredential }: Given) {
  return {
    repoUrl: repoUrl.trim(),
    ...(defaultBranch.trim() === "" ? {} : { defaultBranch: defaultBranch.trim() }),
    ...(repoCredential.trim() === "" ? {} : { repoCredential: repoCredential.trim() }),
  };
}

interface FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A secret of the project; its name is typed where the reader may not list secrets. */
function Credential({ projectId, value, onChange }: FieldProps & { readonly projectId: string }) {
  const area = projects.value.find((one) => one.projectId === projectId) ?? { projectId, tenantId: "" };
  const mayList = mayIn("manageSecrets", area);
  const secrets = useResource(
    async (signal) => {
      if (!mayList) return [];
      const query = { pageSize: 100 };
      return (await api.get("/projects/{projectId}/secrets", { path: { projectId }, query, signal })).list;
    },
    [projectId, mayList],
  );
  if (!mayList) {
    return (
      <label class={styles["field"]}>
        {names.credential}
        <input value={value} spellcheck={false} onInput={(event) => onChange(event.currentTarget.value)} />
        <small>{names.credentialHint}</small>
      </label>
    );
  }
  const list = secrets.value ?? [];
  return (
    <label class={styles["field"]}>
      {names.credential}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{texts.noCredential}</option>
        {list.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <small>{texts.otherCredential}</small>
    </label>
  );
}

function Choice({
  label,
  choices,
  value,
  onChange,
}: FieldProps & { readonly label: string; readonly choices: Readonly<Record<string, string>> }) {
  return (
    <label class={styles["field"]}>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {Object.entries(choices).map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FilesProps {
  readonly projectId: string;
  readonly given: Given;
  readonly found: Discovery;
  readonly onMade: () => Promise<void>;
}

function Files({ projectId, given, found, onMade }: FilesProps) {
  const { route } = useLocation();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const free = found.list.filter(({ valid, pipeline }) => valid && pipeline === null);
  const chosen = free.filter(({ path }) => !left.has(path));
  const turn = (path: string) => {
    const next = new Set(left);
    if (!next.delete(path)) next.add(path);
    setLeft(next);
  };
  const { saveMode, repoProvider } = given;
  const make = async () => {
    const files = chosen.map(({ path, name }) => ({ path, name }));
    const body = { ...sourceOf(given), saveMode, repoProvider, files };
    const { list } = await api.post("/projects/{projectId}/repository/pipelines", { path: { projectId }, body });
    const refused = list.filter(({ outcome }) => outcome === "refused");
    for (const { path, problem } of refused) tell(texts.refused(path, problem), "failed");
    const made = list.flatMap(({ pipelineId }) => pipelineId ?? []);
    if (refused.length > 0) await onMade();
    else if (made.length === 1) route(`/pipelines/${made[0]}`);
    else {
      tell(texts.made(made.length));
      route("/pipelines");
    }
  };
  const makeEmpty = async () => {
    const name =
      found.repoUrl
        .replace(/\.git$/, "")
        .split(/[/:]/)
        .at(-1) ?? found.repoUrl;
    const body = { name, projectId, ...sourceOf(given), saveMode, repoProvider };
    const { pipelineId } = await api.post("/pipelines", { body });
    route(`/pipelines/${pipelineId}/edit`);
  };
  if (found.list.length === 0) {
    const button = (
      <Button kind="primary" onClick={makeEmpty}>
        {texts.makeEmpty}
      </Button>
    );
    return (
      <Blank icon={folder} title={texts.none} actions={button}>
        {texts.noneText}
      </Blank>
    );
  }
  return (
    <Section title={texts.found}>
      <ul class={styles["files"]}>
        {found.list.map((file) => (
          <li key={file.path}>
            <FileRow of={file} isChosen={chosen.includes(file)} onTurn={() => turn(file.path)} />
          </li>
        ))}
      </ul>
      {found.hasMore ? <p class={styles["legend"]}>{texts.hasMore}</p> : null}
      <p class={styles["legend"]}>
        <Button kind="primary" disabled={chosen.length === 0} onClick={make}>
          {texts.create(chosen.length)}
        </Button>
      </p>
    </Section>
  );
}

function FileRow({
  of: { path, name, valid, problem, diagnostics, pipeline },
  isChosen,
  onTurn,
}: {
  readonly of: Discovery["list"][number];
  readonly isChosen: boolean;
  readonly onTurn: () => void;
}) {
  const about = (
    <span>
      {name} <small>{path}</small>
      {pipeline === null ? null : (
        <small>
          {texts.already} <a href={`/pipelines/${pipeline.pipelineId}`}>{pipeline.name}</a>
        </small>
      )}
      {valid ? null : (
        <small data-bad={true}>
          {problem === "" ? texts.problems(diagnostics.length) : problem}
          {diagnostics.slice(0, 1).map(({ line, column, message }) => ` · ${line}:${column} ${message}`)}
        </small>
      )}
    </span>
  );
  if (!valid || pipeline !== null) {
    return (
      <div>
        <StatusIcon of={valid ? "success" : "failed"} />
        {about}
      </div>
    );
  }
  return (
    <label>
      <input type="checkbox" checked={isChosen} onChange={onTurn} />
      {about}
    </label>
  );
}
