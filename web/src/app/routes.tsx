/** The pages by their addresses. Each is loaded when it is opened. */
import { Route, Router, useLocation } from "preact-iso";
import searchX from "lucide-static/icons/search-x.svg?raw";
import { ButtonLink } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { words } from "../words.ts";
import { CrashBoundary, lazyPart } from "./page-parts.tsx";
import { noteRoute } from "./place.ts";

const Home = lazyPart(() => import("../pages/home.tsx").then(({ HomePage }) => HomePage));
const Runs = lazyPart(() => import("../pages/runs.tsx").then(({ RunsPage }) => RunsPage));
const Pipelines = lazyPart(() => import("../pages/pipelines.tsx").then(({ PipelinesPage }) => PipelinesPage));
const NewPipeline = lazyPart(() =>
  import("../pipeline/new-pipeline.tsx").then(({ NewPipelinePage }) => NewPipelinePage),
);
const Pipeline = lazyPart(() => import("../pipeline/pipeline-page.tsx").then(({ PipelinePage }) => PipelinePage));
const Trigger = lazyPart(() => import("../pages/trigger.tsx").then(({ TriggerPage }) => TriggerPage));
const Edit = lazyPart(() => import("../edit/edit-page.tsx").then(({ EditPage }) => EditPage));
const Approvals = lazyPart(() => import("../pages/approvals.tsx").then(({ ApprovalsPage }) => ApprovalsPage));
const Agents = lazyPart(() => import("../pages/agents.tsx").then(({ AgentsPage }) => AgentsPage));
const Agent = lazyPart(() => import("../pages/agent.tsx").then(({ AgentPage }) => AgentPage));
const Me = lazyPart(() => import("../pages/me.tsx").then(({ MePage }) => MePage));
const Projects = lazyPart(() => import("../project/projects.tsx").then(({ ProjectsPage }) => ProjectsPage));
const Project = lazyPart(() => import("../project/project-page.tsx").then(({ ProjectPage }) => ProjectPage));
const Plugins = lazyPart(() => import("../admin/plugins-page.tsx").then(({ PluginsPage }) => PluginsPage));
const Plugin = lazyPart(() => import("../admin/plugin-page.tsx").then(({ PluginPage }) => PluginPage));
const Cluster = lazyPart(() => import("../admin/cluster-page.tsx").then(({ ClusterPage }) => ClusterPage));
const Admin = lazyPart(() => import("../admin/admin-page.tsx").then(({ AdminPage }) => AdminPage));
const Tenant = lazyPart(() => import("../admin/tenant-page.tsx").then(({ TenantPage }) => TenantPage));
const Run = lazyPart(() => import("../run/run-page.tsx").then(({ RunPage }) => RunPage));
const Compare = lazyPart(() => import("../compare/compare-page.tsx").then(({ ComparePage }) => ComparePage));
const Log = lazyPart(() => import("../run/log-page.tsx").then(({ LogPage }) => LogPage));

export function Routes() {
  const { url } = useLocation();
  return (
    <CrashBoundary address={url}>
      <Router onRouteChange={noteRoute}>
        <Route path="/" component={Home} />
        <Route path="/runs" component={Runs} />
        <Route path="/runs/:id" component={RunAt} />
        <Route path="/runs/:id/steps/:step" component={LogAt} />
        <Route path="/runs/:id/compare/:other?" component={CompareAt} />
        <Route path="/pipelines" component={Pipelines} />
        <Route path="/pipelines/new" component={NewPipeline} />
        <Route path="/pipelines/:id/trigger" component={TriggerAt} />
        <Route path="/pipelines/:id/edit" component={EditAt} />
        <Route path="/pipelines/:id/:part?" component={PipelineAt} />
        <Route path="/approvals" component={Approvals} />
        <Route path="/agents" component={Agents} />
        <Route path="/agents/:id" component={AgentAt} />
        <Route path="/projects" component={Projects} />
        <Route path="/projects/:id/:part?/:item?" component={ProjectAt} />
        <Route path="/plugins" component={Plugins} />
        <Route path="/plugins/:name+" component={PluginAt} />
        <Route path="/cluster" component={Cluster} />
        <Route path="/admin/tenants/:id/:part?/:item?" component={TenantAt} />
        <Route path="/admin/:part?" component={AdminAt} />
        <Route path="/me" component={Me} />
        <Route default component={NoPage} />
      </Router>
    </CrashBoundary>
  );
}

interface At {
  readonly params: Readonly<Record<string, string>>;
}

function RunAt({ params }: At) {
  return <Run runId={params["id"] ?? ""} />;
}

function CompareAt({ params }: At) {
  return <Compare runId={params["id"] ?? ""} otherId={params["other"]} />;
}

function LogAt({ params }: At) {
  return <Log runId={params["id"] ?? ""} stepRunId={params["step"] ?? ""} />;
}

function PipelineAt({ params }: At) {
  return <Pipeline pipelineId={params["id"] ?? ""} part={params["part"]} />;
}

function TriggerAt({ params }: At) {
  return <Trigger pipelineId={params["id"] ?? ""} />;
}

function EditAt({ params }: At) {
  return <Edit pipelineId={params["id"] ?? ""} />;
}

function AgentAt({ params }: At) {
  return <Agent agentId={params["id"] ?? ""} />;
}

function ProjectAt({ params }: At) {
  return <Project projectId={params["id"] ?? ""} part={params["part"]} item={params["item"]} />;
}

function PluginAt({ params }: At) {
  return <Plugin name={params["name"] ?? ""} />;
}

function TenantAt({ params }: At) {
  return <Tenant tenantId={params["id"] ?? ""} part={params["part"]} item={params["item"]} />;
}

function AdminAt({ params }: At) {
  return <Admin part={params["part"]} />;
}

function NoPage() {
  const home = <ButtonLink href="/">{words.states.home}</ButtonLink>;
  return (
    <Page title={words.states.goneTitle}>
      <Blank icon={searchX} title={words.states.noPage} actions={home} />
    </Page>
  );
}
