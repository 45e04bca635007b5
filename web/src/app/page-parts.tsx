/** Parts of the page that are loaded when they are opened, and what stands in the place of one that cannot be shown. */
import { Component, type ComponentChildren, type ComponentType } from "preact";
import { lazy } from "preact-iso";
import { useEffect, useState } from "preact/hooks";
import triangle from "lucide-static/icons/triangle-alert.svg?raw";
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Button } from "../parts/button.tsx";
import { Loading } from "../parts/loaded.tsx";
import { Blank, Problem } from "../parts/problem.tsx";
import { words } from "../words.ts";

const RELOADED_KEY = "millrace.reloaded";
/** A part that is missing again within this time is not there, so that the page does not load itself for ever. */
const RELOAD_EVERY_MS = 60_000;

/**
 * A part in a file of its own. The file may be out of reach: the network is away, or the server has a newer version, which
 * has other files. The library keeps a failure for ever, and so may the browser, so then the whole page is loaded again.
 */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  return lazy<ComponentType<Props>>(() => load().catch(() => Unloaded));
}

/** The whole page is loaded again once the server answers. */
function Unloaded() {
  const answer = useResource((signal) => api.get("/whoami", { signal }), []);
  const [isMissing, setMissing] = useState(false);
  const isThere = answer.value !== undefined;
  useEffect(() => {
    if (!isThere) return;
    const last = Number(sessionStorage.getItem(RELOADED_KEY) ?? 0);
    if (Date.now() - last < RELOAD_EVERY_MS) return setMissing(true);
    sessionStorage.setItem(RELOADED_KEY, `${Date.now()}`);
    location.reload();
  }, [isThere]);
  if (answer.error !== undefined) return <Problem error={answer.error} onRetry={answer.reload} />;
  return isMissing ? <Crashed /> : <Loading />;
}

interface BoundaryProps {
  /** At another address the page is tried again. */
  readonly address: string;
  readonly children: ComponentChildren;
}

/** Keeps the frame and its navigation when the page inside fails. */
export class CrashBoundary extends Component<BoundaryProps, { readonly hasCrashed: boolean }> {
  override state = { hasCrashed: false };

  override componentDidCatch(error: unknown): void {
    // The console and whatever else listens for errors learn of it all the same.
    reportError(error);
    this.setState({ hasCrashed: true });
  }

  override componentDidUpdate({ address }: BoundaryProps): void {
    if (this.state.hasCrashed && address !== this.props.address) this.setState({ hasCrashed: false });
  }

  override render({ children }: BoundaryProps): ComponentChildren {
    return this.state.hasCrashed ? <Crashed /> : children;
  }
}

function Crashed() {
  const reload = (): void => location.reload();
  return (
    <div role="alert">
      <Blank
        icon={triangle}
        title={words.states.crashed}
        actions={
          <Button kind="primary" onClick={reload}>
            {words.states.reload}
          </Button>
        }
      />
    </div>
  );
}
