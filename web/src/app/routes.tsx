/** The pages by their addresses. Each is loaded when it is opened. */
import { ErrorBoundary, lazy, Route, Router } from "preact-iso";
import searchX from "lucide-static/icons/search-x.svg?raw";
import { ButtonLink } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { words } from "../words.ts";
import { noteRoute } from "./place.ts";

const Home = lazy(() => import("../pages/home.tsx").then(({ HomePage }) => HomePage));
const Runs = lazy(() => import("../pages/runs.tsx").then(({ RunsPage }) => RunsPage));
const Run = lazy(() => import("../run/run-page.tsx"));
const Log = lazy(() => import("../run/log-page.tsx"));

export function Routes() {
  return (
    <ErrorBoundary>
      <Router onRouteChange={noteRoute}>
        <Route path="/" component={Home} />
        <Route path="/runs" component={Runs} />
        <Route path="/runs/:id" component={RunAt} />
        <Route path="/runs/:id/steps/:step" component={LogAt} />
        <Route default component={NoPage} />
      </Router>
    </ErrorBoundary>
  );
}

interface At {
  readonly params: Readonly<Record<string, string>>;
}

function RunAt({ params }: At) {
  return <Run runId={params["id"] ?? ""} />;
}

function LogAt({ params }: At) {
  return <Log runId={params["id"] ?? ""} stepRunId={params["step"] ?? ""} />;
}

function NoPage() {
  const home = <ButtonLink href="/">{words.states.home}</ButtonLink>;
  return (
    <Page title={words.states.goneTitle}>
      <Blank icon={searchX} title={words.states.noPage} actions={home} />
    </Page>
  );
}
