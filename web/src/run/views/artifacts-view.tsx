/** The artifacts of a run. Their files are never shown by this page: the server sends each as an attachment. */
import { useState } from "preact/hooks";
import packageIcon from "lucide-static/icons/package.svg?raw";
import { api, type Schemas } from "../../api/client.ts";
import { useResource } from "../../api/resource.ts";
import { Button } from "../../parts/button.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Blank } from "../../parts/problem.tsx";
import { Ago } from "../../parts/time.tsx";
import { sizeText } from "../../parts/time-texts.ts";
import { runWords } from "../run-words.ts";
import { hasEnded, jobHasEnded } from "../run-view.ts";
import type { ViewProps } from "../view-props.ts";
import styles from "./artifacts-view.module.css";

const texts = runWords.artifacts;

export function ArtifactsView({ view }: ViewProps) {
  const { runId } = view.head;
  const ended = hasEnded(view) ? -1 : view.jobs.filter(({ newest }) => jobHasEnded(newest)).length;
  const artifacts = useResource(
    (signal) => api.get("/pipelines/runs/{runId}/artifacts", { path: { runId }, query: { pageSize: 100 }, signal }),
    [runId, ended],
  );
  return (
    <Loaded of={artifacts}>
      {({ list }) =>
        list.length === 0 ? (
          <Blank icon={packageIcon} title={texts.none}>
            {texts.noneText}
          </Blank>
        ) : (
          <ul class={styles["list"]}>
            {list.map((artifact) => (
              <Artifact key={artifact.artifactId} of={artifact} />
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}

function Artifact({ of: artifact }: { readonly of: Schemas["Artifact"] }) {
  const { runId, artifactId, name, job, step, stepRunId, size, fileCount, expiresAt } = artifact;
  const [isOpen, open] = useState(false);
  return (
    <li>
      <div class={styles["line"]}>
        <strong>{name}</strong>
        <span class={styles["muted"]}>
          {sizeText(size)} · {texts.files(fileCount)}
        </span>
        <span class={styles["side"]}>
          <a href={`/runs/${runId}/steps/${stepRunId}`}>
            {job} / {step}
          </a>
          <span>
            {texts.expires} <Ago at={expiresAt} />
          </span>
          <Button kind="quiet" expanded={isOpen} onClick={() => open(!isOpen)}>
            {texts.showFiles}
          </Button>
        </span>
      </div>
      {isOpen ? <Files runId={runId} artifactId={artifactId} /> : null}
    </li>
  );
}

function Files({ runId, artifactId }: { readonly runId: string; readonly artifactId: string }) {
  const details = useResource(
    (signal) => api.get("/pipelines/runs/{runId}/artifacts/{artifactId}", { path: { runId, artifactId }, signal }),
    [runId, artifactId],
  );
  return (
    <Loaded of={details} rows={3}>
      {({ files }) => (
        <ul class={styles["files"]}>
          {files.map(({ path, size, sha256 }) => (
            <li key={path}>
              <a
                href={contentAddress(runId, artifactId, path)}
                download={path.split("/").at(-1)}
                target="_blank"
                rel="noopener"
              >
                {path}
              </a>
              <span class={styles["muted"]} title={sha256}>
                {sizeText(size)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Loaded>
  );
}

function contentAddress(runId: string, artifactId: string, path: string): string {
  const place = path.split("/").map(encodeURIComponent).join("/");
  return `/api/v1/pipelines/runs/${runId}/artifacts/${artifactId}/content/${place}`;
}
