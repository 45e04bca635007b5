// Made from docs/openapi.json by `npm run generate`. Do not edit.
export interface paths {
    readonly "/api/v1/openapi.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads this description, an OpenAPI 3.1 document. */
        readonly get: operations["readOpenApi"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/docs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads this description as a page for people. */
        readonly get: operations["readDocs"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/definitions/schema": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads the JSON Schema of definitions, for editors. */
        readonly get: operations["readDefinitionSchema"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/auth/login": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Exchanges a name and a password for an access token. */
        readonly post: operations["login"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/auth/refresh": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Exchanges a refresh token for the next tokens of its session. */
        readonly post: operations["refreshLogin"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/auth/device/code": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Begins the login of a program without a browser (RFC 8628). */
        readonly post: operations["requestDeviceCode"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/auth/device/token": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Asks for the tokens of a program whose user has agreed (RFC 8628). */
        readonly post: operations["takeDeviceToken"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/hooks/{hookId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Takes a delivery of a sender: stores it, answers, and starts its runs afterwards. */
        readonly post: operations["receiveHookDelivery"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/users": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists all users. */
        readonly get: operations["listUsers"];
        readonly put?: never;
        /** Creates a user. */
        readonly post: operations["createUser"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/users/{userId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a user; `me` is the caller. */
        readonly get: operations["getUser"];
        readonly put?: never;
        readonly post?: never;
        /** Removes a user with all personal tokens. */
        readonly delete: operations["deleteUser"];
        readonly options?: never;
        readonly head?: never;
        /** Changes the name of a user, the role, the e-mail address, or whether the user is disabled. */
        readonly patch: operations["changeUser"];
        readonly trace?: never;
    };
    readonly "/api/v1/users/{userId}/logins": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** Ends every login of a user. */
        readonly delete: operations["endLogins"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/whoami": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Describes the caller, and what the caller may do. */
        readonly get: operations["whoami"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/roles": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the roles, the most powerful first, with what each may do. */
        readonly get: operations["listRoles"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/users/{userId}/tokens": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the personal tokens of a user. */
        readonly get: operations["listTokens"];
        readonly put?: never;
        /** Makes a personal token, which only this answer shows. */
        readonly post: operations["createToken"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/users/{userId}/tokens/{tokenId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** Deletes a personal token, which is refused from the next call on. */
        readonly delete: operations["deleteToken"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/id-token": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Gives a job with the permission `idToken` an identity token. The caller's token is the request token of the job. */
        readonly post: operations["issueIdToken"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agents/registration-tokens": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists registration tokens, newest first. */
        readonly get: operations["listRegistrationTokens"];
        readonly put?: never;
        /** Makes a registration token, which only this answer shows. */
        readonly post: operations["createRegistrationToken"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agents/registration-tokens/{tokenId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** Deletes a registration token; agents that have registered with it stay registered. */
        readonly delete: operations["deleteRegistrationToken"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agents/{agentId}/labels": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Replaces the trusted labels of an agent. */
        readonly put: operations["setTrustedLabels"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agents/{agentId}/reach": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Replaces the reach of an agent: which jobs it may get from the next match on. */
        readonly put: operations["setAgentReach"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agents/{agentId}/token": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** Revokes the tokens of an agent, which can register again. */
        readonly delete: operations["revokeAgentToken"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agents/{agentId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads an agent, with who has set its labels and the jobs that it holds. */
        readonly get: operations["getAgent"];
        readonly put?: never;
        readonly post?: never;
        /** Removes an agent with its tokens; its jobs count as lost. */
        readonly delete: operations["deleteAgent"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agents/{agentId}/drain": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Lets an agent take no new job; it finishes what it holds. */
        readonly post: operations["drainAgent"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agents/{agentId}/undrain": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Lets a drained agent take jobs again. */
        readonly post: operations["undrainAgent"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agents/demand": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads which jobs wait for agents, by project and selector, and which agents would serve them. */
        readonly get: operations["readAgentDemand"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agents": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists all registered agents. */
        readonly get: operations["listAgents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Finds runs across pipelines, newest first. */
        readonly get: operations["findRuns"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/environments": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the environments to which pipelines deploy, with what is there and what was deployed last. */
        readonly get: operations["listEnvironments"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/environments/deployments": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the deployments to an environment, newest first. */
        readonly get: operations["listDeployments"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the runs of a pipeline, newest first. */
        readonly get: operations["listRuns"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/statistics": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads how runs and jobs of a pipeline have ended on the last days, and how long they took and waited. */
        readonly get: operations["readStatistics"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/tests": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the tests of a pipeline by their newest runs: flaky ones, failing ones, or the slowest. */
        readonly get: operations["listTests"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a run with its jobs and steps. */
        readonly get: operations["getRun"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a run with its jobs and steps, when it is one of the pipeline. */
        readonly get: operations["getRunOfPipeline"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/timeline": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the transitions of a run with their causes. */
        readonly get: operations["readTimeline"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/agent-events": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the events that agents reported about the steps of a run. */
        readonly get: operations["listAgentEvents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/outputs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads the outputs of the jobs of a run that have ended. */
        readonly get: operations["readRunOutputs"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/rerun": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Runs a run again that has ended: all of it, what failed, or from a step on. */
        readonly post: operations["rerunRun"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/jobs/{jobId}/cancel": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Cancels one job of a run. */
        readonly post: operations["cancelJob"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/steps/{stepRunId}/cancel": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Cancels one step that is queued or running. */
        readonly post: operations["cancelStep"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/steps/{stepRunId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads the status of a step run, and what can be changed of it. */
        readonly get: operations["getStepRun"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /** Changes the priority and the metadata of a step run that has not been dispatched. */
        readonly patch: operations["updateStepRun"];
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/stop": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Stops a run: what runs is cancelled, and nothing more begins. */
        readonly post: operations["stopRun"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/pause": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Pauses a run: steps that run go on, and nothing more begins. */
        readonly post: operations["pauseRun"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/resume": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Lets a paused run go on. */
        readonly post: operations["resumeRun"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/steps/{stepRunId}/logs/search": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Searches a step's log for a text or a pattern. */
        readonly get: operations["searchStepLog"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/logs/search": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Searches all logs of a run, in the order of the plan. */
        readonly get: operations["searchRunLogs"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/logs/search": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Searches the logs of the runs of a pipeline, newest run first. */
        readonly get: operations["searchPipelineLogs"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/steps/{stepRunId}/logs/text": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a step's log as plain text, in gzip for callers who accept it. */
        readonly get: operations["readLogText"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/logs/archive": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads all logs of a run as one ZIP archive. */
        readonly get: operations["readLogArchive"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/annotations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the annotations in the output of a run's steps, step by step. */
        readonly get: operations["listAnnotations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/summaries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the summaries of a run's steps, as Markdown and as safe HTML. */
        readonly get: operations["listSummaries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/test-reports": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Counts the tests of a run, and of each of its steps with test reports. */
        readonly get: operations["listTestReports"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/test-cases": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the test cases of a run: all of them, those that failed, the flaky ones, or the slowest. */
        readonly get: operations["listTestCases"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/me/notifications": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads what the caller has chosen to be told of by e-mail. */
        readonly get: operations["readNotificationChoices"];
        /** Replaces what the caller has chosen to be told of by e-mail. Nothing that happened before a choice is told. */
        readonly put: operations["replaceNotificationChoices"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/notifications": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the notifications of a run, the newest first, and what became of them. */
        readonly get: operations["listNotificationsOfRun"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/notifications/{notificationId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a notification of a run with its latest tries: when they were, and what was answered. */
        readonly get: operations["readNotificationOfRun"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/notifications/{notificationId}/resend": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Sends an ended notification of a run once more, with the same id. */
        readonly post: operations["resendNotification"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/commit-statuses": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists what the host of its repository is told of a run and its jobs, the newest first, and whether it has it. */
        readonly get: operations["listCommitStatuses"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/notifications": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the notifications of all runs of a project, the newest first. */
        readonly get: operations["listNotificationsOfProject"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/notifications/{notificationId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a notification of a run of the project with its latest tries. */
        readonly get: operations["readNotificationOfProject"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/approvals": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists approvals of all runs; by default the pending ones, newest first. */
        readonly get: operations["listApprovals"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/approvals": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists all approvals of a run in the order of their requests. */
        readonly get: operations["listRunApprovals"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/approvals/{approvalId}/approve": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Approves what waits for approval. */
        readonly post: operations["approve"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/approvals/{approvalId}/reject": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Rejects what waits for approval. */
        readonly post: operations["reject"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/artifacts": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the artifacts of a run, oldest first. */
        readonly get: operations["listArtifacts"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/artifacts/{artifactId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Describes an artifact with its files. */
        readonly get: operations["getArtifact"];
        readonly put?: never;
        readonly post?: never;
        /** Deletes an artifact with its content. */
        readonly delete: operations["deleteArtifact"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/artifacts/{artifactId}/content": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads one file of an artifact, or a range of its bytes. */
        readonly get: operations["readArtifact"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/runs/{runId}/artifacts/{artifactId}/content/{path}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads one file of an artifact, or a range of its bytes. */
        readonly get: operations["readArtifactFile"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/caches": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the cache entries of a project, last used first. */
        readonly get: operations["listCaches"];
        readonly put?: never;
        readonly post?: never;
        /** Deletes the cache entries whose key begins with `prefix`. */
        readonly delete: operations["deleteCaches"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/caches/{cacheId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** Deletes one cache entry. */
        readonly delete: operations["deleteCache"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/uploads": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the uploads of a project, the newest first. */
        readonly get: operations["listUploads"];
        readonly put?: never;
        /** Begins an upload whose content follows in parts. */
        readonly post: operations["createUpload"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/uploads/form": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Stores the one file of a form as an upload. */
        readonly post: operations["uploadFile"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/uploads/{uploadId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Describes an upload, with the offset from which its content continues. */
        readonly get: operations["getUpload"];
        readonly put?: never;
        readonly post?: never;
        /** Deletes an upload with its content. */
        readonly delete: operations["deleteUpload"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/uploads/{uploadId}/content": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads the content of an upload, or a range of its bytes. */
        readonly get: operations["readUpload"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /** Adds a part at the offset of the header `Upload-Offset`, and completes the upload with the last part. */
        readonly patch: operations["appendToUpload"];
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists pipelines, newest first. */
        readonly get: operations["listPipelines"];
        readonly put?: never;
        /** Creates a pipeline, which has no definition yet. */
        readonly post: operations["createPipeline"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a pipeline. */
        readonly get: operations["getPipeline"];
        /** Replaces the fields of a pipeline that are present. */
        readonly put: operations["updatePipeline"];
        readonly post?: never;
        /** Deletes a pipeline; with `force` also one with live runs, which are stopped. */
        readonly delete: operations["deletePipeline"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/spec": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads the definition of a pipeline. */
        readonly get: operations["getSpec"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/spec/validate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Checks a definition and stores nothing; a bad definition is an answer and not an error. */
        readonly post: operations["validateSpec"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/spec/save": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Makes a definition the head of the pipeline. */
        readonly post: operations["saveSpec"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/spec/move": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Moves an inline definition into a Git repository, or back. */
        readonly post: operations["moveDefinition"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/plan": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Plans a run and stores nothing. */
        readonly post: operations["planPipeline"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/trigger": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Starts a run of the definition at the head; of one in Git also at a branch, a tag or a commit. */
        readonly post: operations["triggerRun"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/repository/discover": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Lists the definitions of a Git repository, and the pipelines that it has already. */
        readonly post: operations["discoverDefinitions"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/repository/pipelines": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Makes pipelines of definitions of a Git repository. */
        readonly post: operations["makePipelines"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/repository/check": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Tries the Git repository of a pipeline, and tells what is missing. */
        readonly post: operations["checkRepository"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/repository/webhook/check": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Tells what is wrong with the webhook at the host of the repository. */
        readonly post: operations["checkHostHook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/repository/webhook": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Makes the webhook at the host of the repository, with the hook that it calls, or repairs it. */
        readonly post: operations["connectHostHook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/revisions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the revisions of a definition, newest first. */
        readonly get: operations["listRevisions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/revisions/{revisionId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a revision of a definition. */
        readonly get: operations["getRevision"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/revisions/{revisionId}/diff": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Compares a revision with another one, or with the one before. */
        readonly get: operations["diffRevisions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/revisions/{revisionId}/restore": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Saves the definition of an earlier revision as a new one. */
        readonly post: operations["restoreRevision"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/schedules": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the schedules of a pipeline with their next times, in the order of its definition. */
        readonly get: operations["listSchedules"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/schedules/{scheduleName}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a schedule, and what became of its last times. */
        readonly get: operations["getSchedule"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/schedules/{scheduleName}/pause": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Pauses a schedule: its times are skipped until it is resumed. */
        readonly post: operations["pauseSchedule"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/schedules/{scheduleName}/resume": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Resumes a paused schedule. */
        readonly post: operations["resumeSchedule"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/secrets": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the secrets of a project in the order of their names. */
        readonly get: operations["listProjectSecrets"];
        readonly put?: never;
        /** Creates a secret of a project. No answer holds its value. */
        readonly post: operations["createProjectSecret"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/secrets/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a secret of a project, without its value. */
        readonly get: operations["getProjectSecret"];
        /** Gives a secret of a project a new value. */
        readonly put: operations["replaceProjectSecret"];
        readonly post?: never;
        /** Deletes a secret of a project. */
        readonly delete: operations["deleteProjectSecret"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/secrets": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the secrets of a pipeline in the order of their names. */
        readonly get: operations["listPipelineSecrets"];
        readonly put?: never;
        /** Creates a secret of a pipeline. No answer holds its value. */
        readonly post: operations["createPipelineSecret"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/secrets/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a secret of a pipeline, without its value. */
        readonly get: operations["getPipelineSecret"];
        /** Gives a secret of a pipeline a new value. */
        readonly put: operations["replacePipelineSecret"];
        readonly post?: never;
        /** Deletes a secret of a pipeline. */
        readonly delete: operations["deletePipelineSecret"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/variables": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the variables of a tenant in the order of their names. */
        readonly get: operations["listTenantVariables"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/variables/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a variable of a tenant. */
        readonly get: operations["getTenantVariable"];
        /** Creates a variable of a tenant, or gives it another value. */
        readonly put: operations["putTenantVariable"];
        readonly post?: never;
        /** Deletes a variable of a tenant. */
        readonly delete: operations["deleteTenantVariable"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/variables": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the variables of a project in the order of their names. */
        readonly get: operations["listProjectVariables"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/variables/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a variable of a project. */
        readonly get: operations["getProjectVariable"];
        /** Creates a variable of a project, or gives it another value. */
        readonly put: operations["putProjectVariable"];
        readonly post?: never;
        /** Deletes a variable of a project. */
        readonly delete: operations["deleteProjectVariable"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/webhooks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the webhooks of a tenant in the order of their creation. */
        readonly get: operations["listTenantWebhooks"];
        readonly put?: never;
        /** Creates a webhook of a tenant. Only this answer holds its secret. */
        readonly post: operations["createTenantWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/webhooks/{webhookId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a webhook of a tenant. */
        readonly get: operations["getTenantWebhook"];
        readonly put?: never;
        readonly post?: never;
        /** Deletes a webhook of a tenant; what is owed to it is not sent any more. */
        readonly delete: operations["deleteTenantWebhook"];
        readonly options?: never;
        readonly head?: never;
        /** Changes a webhook of a tenant, disables it, or enables it again. */
        readonly patch: operations["changeTenantWebhook"];
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/webhooks/{webhookId}/rotate-secret": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Gives a webhook of a tenant a new secret. For a day, requests carry the signature of the earlier one too. */
        readonly post: operations["rotateTenantWebhookSecret"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/webhooks/{webhookId}/deliveries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the deliveries of a webhook of a tenant, the newest first. */
        readonly get: operations["listTenantWebhookDeliveries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/webhooks/{webhookId}/deliveries/{deliveryId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a delivery of a webhook of a tenant, with its latest requests and their answers. */
        readonly get: operations["getTenantWebhookDelivery"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Sends an ended delivery of a webhook of a tenant once more, with the same id. */
        readonly post: operations["redeliverTenantWebhookDelivery"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/webhooks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the webhooks of a project in the order of their creation. */
        readonly get: operations["listProjectWebhooks"];
        readonly put?: never;
        /** Creates a webhook of a project. Only this answer holds its secret. */
        readonly post: operations["createProjectWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/webhooks/{webhookId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a webhook of a project. */
        readonly get: operations["getProjectWebhook"];
        readonly put?: never;
        readonly post?: never;
        /** Deletes a webhook of a project; what is owed to it is not sent any more. */
        readonly delete: operations["deleteProjectWebhook"];
        readonly options?: never;
        readonly head?: never;
        /** Changes a webhook of a project, disables it, or enables it again. */
        readonly patch: operations["changeProjectWebhook"];
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/webhooks/{webhookId}/rotate-secret": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Gives a webhook of a project a new secret. For a day, requests carry the signature of the earlier one too. */
        readonly post: operations["rotateProjectWebhookSecret"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/webhooks/{webhookId}/deliveries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the deliveries of a webhook of a project, the newest first. */
        readonly get: operations["listProjectWebhookDeliveries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/webhooks/{webhookId}/deliveries/{deliveryId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a delivery of a webhook of a project, with its latest requests and their answers. */
        readonly get: operations["getProjectWebhookDelivery"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Sends an ended delivery of a webhook of a project once more, with the same id. */
        readonly post: operations["redeliverProjectWebhookDelivery"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/hooks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the hooks of a project in the order of their creation. */
        readonly get: operations["listHooks"];
        readonly put?: never;
        /** Creates a hook of a project, which takes deliveries of one kind of sender. */
        readonly post: operations["createHook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/hooks/{hookId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a hook. */
        readonly get: operations["getHook"];
        readonly put?: never;
        readonly post?: never;
        /** Deletes a hook with its deliveries; runs that these have started stay. */
        readonly delete: operations["deleteHook"];
        readonly options?: never;
        readonly head?: never;
        /** Changes a hook, disables it, or enables it again. */
        readonly patch: operations["changeHook"];
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/hooks/{hookId}/deliveries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists what a hook has received, the newest first. */
        readonly get: operations["listHookDeliveries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/hooks/{hookId}/deliveries/{deliveryId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a delivery of a hook, with the verdict of each trigger. */
        readonly get: operations["getHookDelivery"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/hooks/{hookId}/deliveries/{deliveryId}/redeliver": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Processes an ended delivery once more; runs that it has started stay. */
        readonly post: operations["redeliverHookDelivery"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/plugins": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the plugins of the installation in the order of their names. */
        readonly get: operations["listPlugins"];
        readonly put?: never;
        /** Stores a version of a plugin of the installation, which the manifest in the package names. */
        readonly post: operations["pushPlugin"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/plugins/{name}/versions/{version}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Describes one version of a plugin of the installation. */
        readonly get: operations["getPluginRelease"];
        readonly put?: never;
        readonly post?: never;
        /** Deletes one version of a plugin of the installation. */
        readonly delete: operations["deletePluginRelease"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/plugins/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Describes a plugin of the installation with its versions. */
        readonly get: operations["getPlugin"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/plugins": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the plugins of a tenant in the order of their names. */
        readonly get: operations["listTenantPlugins"];
        readonly put?: never;
        /** Stores a version of a plugin of a tenant, which the manifest in the package names. */
        readonly post: operations["pushTenantPlugin"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/plugins/{name}/versions/{version}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Describes one version of a plugin of a tenant. */
        readonly get: operations["getTenantPluginRelease"];
        readonly put?: never;
        readonly post?: never;
        /** Deletes one version of a plugin of a tenant. */
        readonly delete: operations["deleteTenantPluginRelease"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/plugins/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Describes a plugin of a tenant with its versions. */
        readonly get: operations["getTenantPlugin"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/plugins": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the plugins of a project in the order of their names. */
        readonly get: operations["listProjectPlugins"];
        readonly put?: never;
        /** Stores a version of a plugin of a project, which the manifest in the package names. */
        readonly post: operations["pushProjectPlugin"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/plugins/{name}/versions/{version}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Describes one version of a plugin of a project. */
        readonly get: operations["getProjectPluginRelease"];
        readonly put?: never;
        readonly post?: never;
        /** Deletes one version of a plugin of a project. */
        readonly delete: operations["deleteProjectPluginRelease"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/plugins/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Describes a plugin of a project with its versions. */
        readonly get: operations["getProjectPlugin"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/cluster": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Describes the nodes, the shards, the dead letters and the Redis servers of the installation. */
        readonly get: operations["readCluster"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/cluster/dead-letters": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists messages that no actor could decide and envelopes that no owner could read. */
        readonly get: operations["listDeadLetters"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/cluster/dead-letters/{id}/redrive": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Sends a dead letter to its mailbox again. */
        readonly post: operations["redriveDeadLetter"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/audit": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists who changed what, the newest first. */
        readonly get: operations["listAudit"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/audit/export": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Exports the audit log, the oldest entry first, one JSON text a line. */
        readonly get: operations["exportAudit"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/system-events": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the system events of a tenant or of the installation behind a number, in their order. */
        readonly get: operations["listSystemEvents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists all projects, archived ones too. */
        readonly get: operations["listProjects"];
        readonly put?: never;
        /** Creates a project. */
        readonly post: operations["createProject"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a project. */
        readonly get: operations["getProject"];
        readonly put?: never;
        readonly post?: never;
        /** Deletes a project with everything in it; with `force` also one with live runs, which are stopped. */
        readonly delete: operations["deleteProject"];
        readonly options?: never;
        readonly head?: never;
        /** Changes the fields of a project that are given, or archives it. */
        readonly patch: operations["changeProject"];
        readonly trace?: never;
    };
    readonly "/api/v1/tenants": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the tenants in which the caller has a role, archived ones too. */
        readonly get: operations["listTenants"];
        readonly put?: never;
        /** Creates a tenant. */
        readonly post: operations["createTenant"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a tenant. */
        readonly get: operations["getTenant"];
        readonly put?: never;
        readonly post?: never;
        /** Deletes a tenant with its teams and service accounts; with `force` also one that has projects, with them. */
        readonly delete: operations["deleteTenant"];
        readonly options?: never;
        readonly head?: never;
        /** Renames a tenant, or archives it. */
        readonly patch: operations["changeTenant"];
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/teams": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the teams of a tenant, by their names. */
        readonly get: operations["listTeams"];
        readonly put?: never;
        /** Creates a team. */
        readonly post: operations["createTeam"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/teams/{teamId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads a team with its members. */
        readonly get: operations["getTeam"];
        readonly put?: never;
        readonly post?: never;
        /** Deletes a team with its roles; its members stay users. */
        readonly delete: operations["deleteTeam"];
        readonly options?: never;
        readonly head?: never;
        /** Renames a team. */
        readonly patch: operations["renameTeam"];
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/teams/{teamId}/members/{member}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Adds a user, named by id or name, to a team. */
        readonly put: operations["addToTeam"];
        readonly post?: never;
        /** Removes a user from a team. */
        readonly delete: operations["removeFromTeam"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/members": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the users, service accounts and teams that have a role in exactly this place. */
        readonly get: operations["listTenantMembers"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/members/{member}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads the role of a user, named by id or name, or of a team in exactly this place. */
        readonly get: operations["getTenantMember"];
        /** Gives a role to a user, named by id or name, or to a team, or replaces the role. */
        readonly put: operations["putTenantMember"];
        readonly post?: never;
        /** Takes a role away. */
        readonly delete: operations["deleteTenantMember"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/members": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the users, service accounts and teams that have a role in exactly this place. */
        readonly get: operations["listProjectMembers"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/members/{member}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads the role of a user, named by id or name, or of a team in exactly this place. */
        readonly get: operations["getProjectMember"];
        /** Gives a role to a user, named by id or name, or to a team, or replaces the role. */
        readonly put: operations["putProjectMember"];
        readonly post?: never;
        /** Takes a role away. */
        readonly delete: operations["deleteProjectMember"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/service-accounts": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the service accounts, oldest first. */
        readonly get: operations["listTenantServiceAccounts"];
        readonly put?: never;
        /** Makes a service account, which has no role yet. */
        readonly post: operations["createTenantServiceAccount"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/service-accounts/{userId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** Deletes a service account with its tokens and roles. */
        readonly delete: operations["deleteTenantServiceAccount"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/service-accounts/{userId}/tokens": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the tokens of a service account, oldest first. */
        readonly get: operations["listTenantServiceTokens"];
        readonly put?: never;
        /** Makes a token of a service account, which only this answer shows. */
        readonly post: operations["createTenantServiceToken"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/service-accounts/{userId}/tokens/{tokenId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** Deletes a token of a service account. */
        readonly delete: operations["deleteTenantServiceToken"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/service-accounts": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the service accounts, oldest first. */
        readonly get: operations["listProjectServiceAccounts"];
        readonly put?: never;
        /** Makes a service account, which has no role yet. */
        readonly post: operations["createProjectServiceAccount"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/service-accounts/{userId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** Deletes a service account with its tokens and roles. */
        readonly delete: operations["deleteProjectServiceAccount"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/service-accounts/{userId}/tokens": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the tokens of a service account, oldest first. */
        readonly get: operations["listProjectServiceTokens"];
        readonly put?: never;
        /** Makes a token of a service account, which only this answer shows. */
        readonly post: operations["createProjectServiceToken"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/service-accounts/{userId}/tokens/{tokenId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** Deletes a token of a service account. */
        readonly delete: operations["deleteProjectServiceToken"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/retention": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads how long the parts of a project's runs are kept. */
        readonly get: operations["getRetention"];
        /** Replaces the bounds that the project has itself. */
        readonly put: operations["setRetention"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/log-limit": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads how much of a step's log a project keeps. */
        readonly get: operations["getLogLimit"];
        /** Replaces the bounds that the project has itself. */
        readonly put: operations["setLogLimit"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/trust-demand": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads which jobs of a project need an agent with trusted labels. */
        readonly get: operations["getTrustDemand"];
        /** Replaces what a project demands of the agents of its jobs. */
        readonly put: operations["setTrustDemand"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/settings": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads the settings of the installation, each with the level that its value comes from. */
        readonly get: operations["getInstallationSettings"];
        /** Replaces the values that the installation has itself. */
        readonly put: operations["setInstallationSettings"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/tenants/{tenantId}/settings": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads the settings of a tenant, each with the level that its value comes from. */
        readonly get: operations["getTenantSettings"];
        /** Replaces the values that a tenant has itself. */
        readonly put: operations["setTenantSettings"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/projects/{projectId}/settings": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads the settings of a project, each with the level that its value comes from. */
        readonly get: operations["getProjectSettings"];
        /** Replaces the values that a project has itself. */
        readonly put: operations["setProjectSettings"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/ws": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Upgrades the connection to WebSocket. */
        readonly get: operations["openWebSocket"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/live/run": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Follows one run: a snapshot, then each transition of the run, its jobs, steps, approvals and waits. */
        readonly get: operations["followRun"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/live/runs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Follows the state of all runs that the caller may see: those that have not ended, then each change. */
        readonly get: operations["followRuns"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/live/approvals": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Follows the approvals that the caller may see: those that wait for a decision, then each change. */
        readonly get: operations["followApprovals"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/live/agents": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Follows the presence of the agents that the caller may see: all of them, then each change. */
        readonly get: operations["followAgents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/live/system": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Follows the system events of a tenant or of the installation: agents, definitions, projects, settings, identity. */
        readonly get: operations["followSystem"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/pipelines/{pipelineId}/runs/{runId}/steps/{stepRunId}/logs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads lines of a step's log: from a line on, the last ones, or those around a line. With `Accept: text/event-stream`, goes on with each new line until the log ends. */
        readonly get: operations["readLog"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/auth/logout": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Ends the session of the caller. */
        readonly post: operations["logOut"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/auth/tickets": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Makes a ticket, which opens one WebSocket or one download in place of a token. */
        readonly post: operations["createTicket"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/users/{userId}/sessions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Lists the live sessions of a user, oldest first. */
        readonly get: operations["listSessions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/users/{userId}/sessions/{sessionId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** Ends a session, which is refused from the next call on. */
        readonly delete: operations["endSession"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/users/{userId}/password": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Sets a password, and ends every login of the user. */
        readonly put: operations["setPassword"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/users/{userId}/reset-link": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Makes a link with which a user sets a new password once; only this answer shows it. */
        readonly post: operations["createResetLink"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/invitations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Creates a user without a password, with roles in the installation, tenants and projects, and a link with which the user sets one; only this answer shows it. */
        readonly post: operations["invite"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/invitations/{user}/link": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Makes a new link for a user, by id or name, who has not accepted the invitation; only this answer shows it. */
        readonly post: operations["renewInvitation"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/healthz": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Answers while the process lives. */
        readonly get: operations["isAlive"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/readyz": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Answers while the node can do its work. */
        readonly get: operations["isReady"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/.well-known/openid-configuration": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Says where the keys are that verify identity tokens of this installation. */
        readonly get: operations["readOpenIdConfiguration"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/.well-known/jwks.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Reads the keys that verify identity tokens of this installation. */
        readonly get: operations["readJsonWebKeySet"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        readonly Agent: {
            readonly agentId: string;
            readonly name: string;
            readonly labels: {
                readonly [key: string]: string;
            };
            readonly trusted: readonly string[];
            readonly overruled: {
                readonly [key: string]: string;
            };
            readonly slots: number;
            readonly version: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly online: boolean | null;
            readonly busy: number;
            readonly draining: boolean;
            readonly drain: components["schemas"]["AgentDrain"] | null;
            readonly reach: {
                readonly tenantId: string;
                readonly projectIds: readonly string[] | null;
            } | null;
        };
        readonly AgentDemand: {
            readonly waiting: number;
            readonly oldestAge: number;
            readonly complete: boolean;
            readonly groups: readonly components["schemas"]["DemandGroup"][];
            readonly agents: {
                readonly online: number;
                readonly slots: number;
                readonly busy: number;
            } | null;
        };
        readonly AgentDetail: {
            readonly agentId: string;
            readonly name: string;
            readonly labels: {
                readonly [key: string]: string;
            };
            readonly trusted: readonly string[];
            readonly overruled: {
                readonly [key: string]: string;
            };
            readonly slots: number;
            readonly version: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly online: boolean | null;
            readonly busy: number;
            readonly draining: boolean;
            readonly drain: components["schemas"]["AgentDrain"] | null;
            readonly reach: {
                readonly tenantId: string;
                readonly projectIds: readonly string[] | null;
            } | null;
            readonly labelSources: readonly components["schemas"]["AgentLabel"][];
            readonly jobsHeld: number;
            readonly jobs: readonly components["schemas"]["HeldJob"][];
        };
        readonly AgentDrain: {
            readonly by: string;
            /** Format: date-time */
            readonly at: string;
            readonly reason: string;
        };
        readonly AgentEvent: {
            readonly eventId: string;
            readonly agentId: string;
            readonly stepRunId: string | null;
            readonly type: string;
            readonly subject: string;
            /** Format: date-time */
            readonly time: string;
            /** Format: date-time */
            readonly receivedAt: string;
            readonly data: unknown;
        };
        readonly AgentFacts: {
            readonly online: number;
            readonly matching: number;
            readonly failing: readonly {
                readonly clause: string;
                readonly agents: number;
                readonly agentIds: readonly string[];
            }[];
            readonly nearest: {
                readonly agentId: string;
                readonly failing: readonly string[];
            } | null;
            readonly busy: readonly {
                readonly agentId: string;
                readonly busy: number;
                readonly slots: number;
                readonly takesNoJobs: string;
                readonly jobs?: readonly components["schemas"]["HeldJob"][];
            }[];
        };
        readonly AgentLabel: {
            readonly key: string;
            readonly value: string;
            /** @enum {string} */
            readonly setBy: "agent" | "user" | "registrationToken";
            readonly by: string | null;
            readonly at: string | null;
        };
        readonly AgentMatch: {
            readonly online: number;
            readonly matches: number;
            readonly matching: readonly {
                readonly agentId: string;
                readonly name: string;
            }[];
            readonly failing: readonly {
                readonly clause: string;
                readonly agents: number;
            }[];
        };
        readonly AgentSelector: {
            readonly matchLabels: {
                readonly [key: string]: string;
            };
            readonly matchExpressions: readonly {
                readonly key: string;
                /** @enum {string} */
                readonly operator: "In" | "NotIn" | "Exists" | "NotExists" | "Gt" | "Lt";
                readonly values: readonly string[];
            }[];
            readonly trusted: boolean;
            readonly containerEngine: boolean;
            readonly contained: boolean;
        };
        readonly Annotation: {
            /** @enum {string} */
            readonly level: "error" | "warning" | "notice";
            readonly file: string | null;
            readonly line: number | null;
            readonly endLine: number | null;
            readonly column: number | null;
            readonly endColumn: number | null;
            readonly title: string;
            readonly message: string;
            readonly logLine: number;
        };
        readonly Approval: {
            readonly approvalId: string;
            readonly runId: string;
            readonly pipelineId: string;
            readonly projectId: string;
            readonly gate: {
                readonly run: string;
            } | {
                readonly stage: string;
            } | {
                readonly job: string;
            };
            /** @enum {string} */
            readonly status: "pending" | "approved" | "rejected" | "expired" | "cancelled";
            readonly message: string;
            /** Format: date-time */
            readonly requestedAt: string;
            readonly expiresAt: string | null;
            readonly endedAt: string | null;
            readonly approvals: readonly components["schemas"]["CastVote"][];
            readonly rejection: components["schemas"]["CastVote"] | null;
            readonly required: readonly string[];
            readonly count: number;
            readonly missing: {
                readonly users: readonly string[];
                readonly count: number;
            };
            readonly allowed: {
                readonly users: readonly string[];
                readonly roles: readonly ("owner" | "admin" | "maintainer" | "operator" | "viewer")[];
            };
            readonly preventSelf: boolean;
        };
        readonly ApprovalForCaller: {
            readonly approvalId: string;
            readonly runId: string;
            readonly pipelineId: string;
            readonly projectId: string;
            readonly gate: {
                readonly run: string;
            } | {
                readonly stage: string;
            } | {
                readonly job: string;
            };
            /** @enum {string} */
            readonly status: "pending" | "approved" | "rejected" | "expired" | "cancelled";
            readonly message: string;
            /** Format: date-time */
            readonly requestedAt: string;
            readonly expiresAt: string | null;
            readonly endedAt: string | null;
            readonly approvals: readonly components["schemas"]["CastVote"][];
            readonly rejection: components["schemas"]["CastVote"] | null;
            readonly required: readonly string[];
            readonly count: number;
            readonly missing: {
                readonly users: readonly string[];
                readonly count: number;
            };
            readonly allowed: {
                readonly users: readonly string[];
                readonly roles: readonly ("owner" | "admin" | "maintainer" | "operator" | "viewer")[];
            };
            readonly preventSelf: boolean;
            readonly mayDecide: boolean;
            readonly whyNot: string | null;
        };
        readonly ApprovalWait: {
            /** @constant */
            readonly reason: "approval";
            readonly text: string;
            readonly approvalId: string;
        };
        readonly Artifact: {
            readonly artifactId: string;
            readonly name: string;
            readonly runId: string;
            readonly jobId: string;
            readonly job: string;
            readonly stepRunId: string;
            readonly step: string;
            readonly size: number;
            readonly fileCount: number;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string;
        };
        readonly ArtifactDetails: {
            readonly artifactId: string;
            readonly name: string;
            readonly runId: string;
            readonly jobId: string;
            readonly job: string;
            readonly stepRunId: string;
            readonly step: string;
            readonly size: number;
            readonly fileCount: number;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string;
            readonly files: readonly {
                readonly path: string;
                readonly size: number;
                readonly sha256: string;
            }[];
        };
        readonly AuditEntry: {
            readonly auditId: string;
            /** Format: date-time */
            readonly time: string;
            /** @enum {string} */
            readonly outcome: "done" | "refused";
            readonly operation: string;
            readonly actor: {
                /** @enum {string} */
                readonly kind: "user" | "job" | "agent" | "registration" | "operator" | "anonymous";
                readonly id: string | null;
                readonly name: string;
                readonly proof: string | null;
            };
            readonly onBehalfOf: string | null;
            readonly tenantId: string | null;
            readonly projectId: string | null;
            readonly object: {
                readonly kind: string;
                readonly id: string;
                readonly name: string | null;
            } | null;
            readonly from: {
                /** @enum {string} */
                readonly door: "http" | "grpc" | "machine";
                readonly address: string | null;
                readonly userAgent: string | null;
            };
            readonly requestId: string | null;
            readonly before: {
                readonly [key: string]: string | number | boolean | null | readonly string[];
            } | null;
            readonly after: {
                readonly [key: string]: string | number | boolean | null | readonly string[];
            } | null;
            readonly reason: string | null;
            readonly leftOut: number;
        };
        readonly Cache: {
            readonly cacheId: string;
            readonly projectId: string;
            readonly key: string;
            readonly size: number;
            readonly sha256: string;
            readonly runId: string;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly lastUsedAt: string;
            /** Format: date-time */
            readonly expiresAt: string;
        };
        readonly CancelledJob: {
            readonly jobId: string;
            readonly runId: string;
            /** @enum {string} */
            readonly status: "pending" | "queued" | "running" | "success" | "failed" | "cancelled";
            readonly statusCode: number;
        };
        readonly CancelledStep: {
            readonly stepRunId: string;
            readonly jobId: string;
            readonly runId: string;
            /** @enum {string} */
            readonly status: "pending" | "queued" | "running" | "success" | "failed" | "cancelled" | "timeout" | "skipped";
            readonly statusCode: number;
        };
        readonly CastVote: {
            readonly userId: string;
            readonly name: string;
            /** Format: date-time */
            readonly at: string;
            readonly comment: string;
        };
        readonly Cluster: {
            readonly nodes: readonly components["schemas"]["Node"][];
            readonly shards: readonly components["schemas"]["Shard"][];
            readonly deadLetters: {
                readonly total: number;
                readonly messages: number;
                readonly envelopes: number;
            };
            readonly redis: readonly {
                readonly address: string;
                readonly usedMemoryBytes: number;
                readonly maxMemoryBytes: number | null;
            }[];
        };
        readonly Command: {
            readonly runId: string;
            readonly pipelineId: string;
            /** @enum {string} */
            readonly status: "pending" | "running" | "success" | "failed" | "cancelled" | "paused" | "partial";
            readonly statusCode: number;
        };
        readonly CommitStatus: {
            readonly statusId: string;
            readonly commit: string;
            readonly name: string;
            readonly job: string | null;
            /** @enum {string} */
            readonly status: "pending" | "running" | "success" | "failure" | "cancelled";
            readonly description: string;
            /** @enum {string} */
            readonly state: "owed" | "delivered" | "failed";
            readonly attempts: number;
            readonly error: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly lastTry: string | null;
            readonly nextTry: string | null;
        };
        readonly DeadLetter: {
            readonly id: string;
            /** @enum {string} */
            readonly kind: "message" | "envelope";
            readonly shard: number;
            readonly runId: string | null;
            readonly letter: unknown;
            readonly reason: string;
            /** Format: date-time */
            readonly at: string;
        };
        readonly Delivery: {
            readonly deliveryId: string;
            /** @enum {string} */
            readonly state: "owed" | "delivered" | "failed";
            readonly type: string;
            readonly projectId: string;
            readonly runId: string;
            readonly number: number;
            readonly attempts: number;
            readonly status: number | null;
            readonly error: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly lastTry: string | null;
            readonly nextTry: string | null;
            readonly body: string;
            readonly tries: readonly {
                /** Format: date-time */
                readonly at: string;
                readonly duration: number;
                readonly status: number | null;
                readonly error: string;
                readonly request: {
                    readonly url: string;
                    readonly headers: {
                        readonly [key: string]: string;
                    };
                };
                readonly answer: string;
            }[];
        };
        readonly DeliveryInList: {
            readonly deliveryId: string;
            /** @enum {string} */
            readonly state: "owed" | "delivered" | "failed";
            readonly type: string;
            readonly projectId: string;
            readonly runId: string;
            readonly number: number;
            readonly attempts: number;
            readonly status: number | null;
            readonly error: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly lastTry: string | null;
            readonly nextTry: string | null;
        };
        readonly DemandGroup: {
            readonly projectId: string;
            readonly tenantId: string | null;
            readonly selector: components["schemas"]["AgentSelector"];
            readonly clauses: readonly string[];
            readonly waiting: number;
            /** Format: date-time */
            readonly oldestAt: string;
            readonly oldestAge: number;
            readonly wait: {
                /** @enum {string} */
                readonly reason: "no_agent_online" | "no_agent_matches" | "all_busy" | "quota" | "agent";
                readonly text: string;
            };
            readonly freeSlots: number;
            readonly online: components["schemas"]["AgentFacts"] | null;
            readonly offline: {
                readonly matching: number;
                readonly agentIds: readonly string[];
            } | null;
        };
        readonly Deployment: {
            readonly runId: string;
            readonly jobId: string;
            readonly pipelineId: string;
            readonly job: string;
            /** @enum {string} */
            readonly status: "pending" | "queued" | "running" | "success" | "failed" | "cancelled";
            /** Format: date-time */
            readonly startedAt: string;
            readonly endedAt: string | null;
            readonly commitSha: string;
            readonly ref: string;
            readonly triggeredBy: string;
        };
        readonly DeviceCode: {
            readonly device_code: string;
            readonly user_code: string;
            readonly verification_uri: string;
            readonly verification_uri_complete: string;
            readonly expires_in: number;
            readonly interval: number;
        };
        readonly DeviceRefusal: {
            /** @enum {string} */
            readonly error: "authorization_pending" | "slow_down" | "access_denied" | "expired_token" | "invalid_grant" | "invalid_request" | "unsupported_grant_type";
            readonly error_description: string;
        };
        readonly DeviceTokens: {
            readonly access_token: string;
            /** @constant */
            readonly token_type: "Bearer";
            readonly expires_in: number;
            readonly refresh_token: string;
        };
        readonly Diagnostic: {
            /** @enum {string} */
            readonly code: "alias-limit" | "constant-condition" | "container-required" | "cyclic-include" | "cyclic-needs" | "depth-limit" | "diagnostic-limit" | "duplicate-key" | "duplicate-name" | "evaluation-failed" | "expression-limit" | "expression-misplaced" | "expression-syntax" | "include-limit" | "inexact-number" | "invalid-approval" | "invalid-args" | "invalid-call" | "invalid-container" | "invalid-cron" | "invalid-duration" | "invalid-event" | "invalid-image" | "invalid-include" | "invalid-input" | "invalid-matrix" | "invalid-notification" | "invalid-path" | "invalid-pattern" | "invalid-retry" | "invalid-selector" | "invalid-source" | "invalid-type" | "invalid-uses" | "invalid-value" | "jobs-or-stages" | "matrix-limit" | "missing-key" | "moving-image" | "needs-limit" | "no-hook" | "not-a-map" | "plan-limit" | "removed-key" | "reserved-key" | "script-injection" | "size-limit" | "snapshot-limit" | "step-limit" | "syntax" | "type-mismatch" | "undefined-value" | "unknown-action" | "unknown-context" | "unknown-function" | "unknown-job" | "unknown-key" | "unknown-plugin" | "unknown-plugin-version" | "unknown-property" | "unknown-step" | "unknown-word";
            /** @enum {string} */
            readonly severity: "error" | "warning";
            readonly message: string;
            readonly pointer: string;
            readonly line: number;
            readonly column: number;
            readonly endLine: number;
            readonly endColumn: number;
            readonly hint?: string;
            readonly file?: string;
        };
        readonly Discovery: {
            readonly projectId: string;
            readonly repoUrl: string;
            readonly branch: string;
            readonly headCommitSha: string | null;
            readonly list: readonly {
                readonly path: string;
                readonly name: string;
                /** @enum {string} */
                readonly format: "json" | "yaml";
                readonly valid: boolean;
                readonly problem: string;
                readonly diagnostics: readonly components["schemas"]["Diagnostic"][];
                readonly pipeline: {
                    readonly pipelineId: string;
                    readonly name: string;
                } | null;
            }[];
            readonly hasMore: boolean;
        };
        readonly Distribution: {
            readonly count: number;
            readonly p50: number;
            readonly p95: number;
        };
        readonly Environment: {
            readonly projectId: string;
            readonly environment: string;
            readonly pipelineId: string;
            readonly pipeline: string;
            readonly current: components["schemas"]["Deployment"] | null;
            readonly last: components["schemas"]["Deployment"];
        };
        readonly Error: {
            readonly code: number;
            readonly errMsg: string;
            readonly path: string;
            readonly timestamp: number;
            /** @enum {string} */
            readonly reason: "malformed_request" | "invalid_definition" | "unauthenticated" | "forbidden" | "not_found" | "method_not_allowed" | "not_acceptable" | "request_timeout" | "conflict" | "already_exists" | "head_moved" | "request_id_reused" | "precondition_failed" | "payload_too_large" | "range_not_satisfiable" | "unsupported_media_type" | "git_refused" | "headers_too_large" | "too_large" | "slow_reader" | "too_many" | "internal" | "not_implemented" | "unavailable" | "deadline_exceeded";
            readonly errors: readonly components["schemas"]["Problem"][];
            readonly errorCount?: number;
        };
        readonly GroupWait: {
            /** @constant */
            readonly reason: "concurrency";
            readonly text: string;
            readonly group: string;
            readonly holder: string | null;
            readonly ahead: number;
        };
        readonly HeldJob: {
            readonly runId: string;
            readonly jobId: string;
            readonly pipelineId: string;
            readonly projectId: string;
        };
        readonly Hook: {
            readonly hookId: string;
            readonly projectId: string;
            readonly name: string;
            /** @enum {string} */
            readonly kind: "github" | "gitlab" | "gitea" | "forgejo" | "bitbucket" | "generic";
            /** @enum {string} */
            readonly proof: "signature" | "standard" | "token" | "none";
            readonly secret: string | null;
            readonly enabled: boolean;
            readonly perMinute: number;
            readonly path: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly createdBy: string;
            /** Format: date-time */
            readonly updatedAt: string;
        };
        readonly HookDelivery: {
            readonly deliveryId: string;
            readonly senderId: string;
            /** @enum {string} */
            readonly state: "arriving" | "owed" | "done" | "failed";
            readonly event: string;
            readonly events: readonly {
                readonly event: string;
                readonly action: string;
                readonly ref: string;
                readonly sha: string;
                readonly actor: string;
            }[];
            readonly bytes: number;
            /** Format: date-time */
            readonly receivedAt: string;
            readonly error: string;
            readonly nextTry: string | null;
            readonly runs: readonly string[];
            readonly headers: {
                readonly [key: string]: string;
            };
            readonly body: string;
            readonly verdicts: readonly {
                readonly pipelineId: string;
                readonly pipeline: string;
                readonly trigger: string;
                readonly eventIndex: number;
                /** @enum {string} */
                readonly outcome: "matched" | "filtered" | "duplicate" | "outdated" | "waiting" | "refused";
                readonly text: string;
                readonly runId: string | null;
            }[] | null;
        };
        readonly HookDeliveryInList: {
            readonly deliveryId: string;
            readonly senderId: string;
            /** @enum {string} */
            readonly state: "arriving" | "owed" | "done" | "failed";
            readonly event: string;
            readonly events: readonly {
                readonly event: string;
                readonly action: string;
                readonly ref: string;
                readonly sha: string;
                readonly actor: string;
            }[];
            readonly bytes: number;
            /** Format: date-time */
            readonly receivedAt: string;
            readonly error: string;
            readonly nextTry: string | null;
            readonly runs: readonly string[];
        };
        readonly HostHook: {
            readonly pipelineId: string;
            /** @enum {string} */
            readonly provider: "github" | "gitlab" | "gitea" | "forgejo" | "bitbucket";
            readonly hookId: string | null;
            readonly address: string | null;
            /** @enum {string} */
            readonly outcome: "made" | "repaired" | "unchanged";
            readonly webhook: {
                readonly id: string;
                readonly url: string;
                readonly active: boolean;
                readonly lastStatus: number | null;
            } | null;
            readonly problems: readonly {
                /** @enum {string} */
                readonly code: "missing" | "doubled" | "inactive" | "address" | "events" | "failing";
                readonly message: string;
            }[];
        };
        readonly IdToken: {
            readonly token: string;
            /** Format: date-time */
            readonly expiresAt: string;
        };
        readonly Job: {
            readonly jobId: string;
            readonly name: string;
            readonly stage: string;
            readonly matrix: {
                readonly [key: string]: string | number | boolean;
            };
            readonly needs: readonly string[];
            /** @enum {string} */
            readonly status: "pending" | "queued" | "running" | "success" | "failed" | "cancelled";
            readonly statusCode: number;
            readonly attempt: number;
            readonly retryOf: string | null;
            readonly retriedBy: string | null;
            readonly reusedFrom: string | null;
            readonly agentId: string | null;
            readonly reason: string;
            readonly priority: number;
            readonly gaveWayTo: string | null;
            readonly condition: {
                /** @enum {string} */
                readonly of: "stage" | "job";
                readonly expression: string;
                readonly resolved: string;
                readonly verdict: ("true" | "false" | "failed") | null;
            } | null;
            readonly waitingFor: (components["schemas"]["PlainWait"] | components["schemas"]["ApprovalWait"] | components["schemas"]["GroupWait"]) | null;
            readonly queuedAt: string | null;
            readonly startTime: string | null;
            readonly endTime: string | null;
            readonly duration: number;
            readonly tests: components["schemas"]["TestCounts"] | null;
            readonly steps: readonly components["schemas"]["Step"][];
        };
        readonly LogEntry: {
            readonly step_run_id: string;
            readonly timestamp: number;
            readonly line_number: number;
            readonly level: string;
            readonly content: string;
            /** @enum {string} */
            readonly stream: "stdout" | "stderr";
            readonly plugin_name: string;
            readonly agent_id: string;
        };
        readonly LogLimit: {
            readonly projectId: string;
            readonly lines: number;
            readonly bytes: number;
            readonly own: readonly ("lines" | "bytes")[];
        };
        readonly LogMatch: {
            readonly runId: string;
            readonly jobId: string;
            readonly stepRunId: string;
            readonly entry: components["schemas"]["LogEntry"];
            readonly ranges: readonly {
                readonly from: number;
                readonly to: number;
            }[];
            readonly before: readonly components["schemas"]["LogEntry"][];
            readonly after: readonly components["schemas"]["LogEntry"][];
        };
        readonly Login: {
            readonly accessToken: string;
            readonly expiresIn: number;
            readonly user: components["schemas"]["User"];
            readonly refreshToken?: string;
        };
        readonly MadePipelines: {
            readonly projectId: string;
            readonly list: readonly {
                readonly path: string;
                readonly name: string;
                /** @enum {string} */
                readonly outcome: "created" | "connected" | "refused";
                readonly pipelineId: string | null;
                readonly problem: string;
            }[];
        };
        readonly Member: {
            /** @enum {string} */
            readonly kind: "user" | "serviceAccount" | "team";
            readonly memberId: string;
            readonly name: string;
            /** @enum {string} */
            readonly role: "owner" | "admin" | "maintainer" | "operator" | "viewer";
            /** Format: date-time */
            readonly createdAt: string;
            readonly createdBy: string;
        };
        readonly NewRegistrationToken: {
            readonly tokenId: string;
            readonly name: string;
            readonly createdBy: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly expiresAt: string | null;
            readonly maxUses: number | null;
            readonly uses: number;
            readonly usable: boolean;
            readonly labels: {
                readonly [key: string]: string;
            };
            readonly reach: {
                readonly tenantId: string;
                readonly projectIds: readonly string[] | null;
            } | null;
            readonly token: string;
        };
        readonly NewToken: {
            readonly tokenId: string;
            readonly token: string;
            readonly name: string;
            readonly scopes: readonly string[];
            readonly projects?: readonly string[];
        };
        readonly Node: {
            readonly nodeId: string;
            readonly roles: readonly string[];
            readonly version: string;
            readonly host: string;
            readonly pid: number;
            /** Format: date-time */
            readonly startedAt: string;
            readonly schema: number;
            readonly shards: readonly number[];
        };
        readonly NotedStep: {
            readonly stepRunId: string;
            readonly jobId: string;
            readonly job: string;
            readonly step: string;
            readonly attempt: number;
        };
        readonly Notification: {
            readonly notificationId: string;
            readonly runId: string;
            readonly pipelineId: string;
            readonly projectId: string;
            /** @enum {string} */
            readonly on: "success" | "failure" | "partial" | "cancelled" | "fixed" | "approval" | "waiting";
            readonly job: string | null;
            /** @enum {string} */
            readonly channel: "webhook" | "slack" | "email";
            readonly target: string;
            /** @enum {string} */
            readonly state: "owed" | "delivered" | "failed";
            readonly attempts: number;
            readonly status: number | null;
            readonly error: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly lastTry: string | null;
            readonly nextTry: string | null;
            readonly problem: string;
        };
        readonly NotificationChoices: {
            readonly email: string | null;
            readonly choices: readonly {
                readonly projectId: string;
                readonly on: readonly ("failure" | "fixed" | "success" | "approval" | "waiting")[];
                /** @enum {string} */
                readonly runs: "mine" | "all";
                readonly longerThan: string | null;
                /** Format: date-time */
                readonly since: string;
            }[];
        };
        readonly NotificationDetail: {
            readonly notificationId: string;
            readonly runId: string;
            readonly pipelineId: string;
            readonly projectId: string;
            /** @enum {string} */
            readonly on: "success" | "failure" | "partial" | "cancelled" | "fixed" | "approval" | "waiting";
            readonly job: string | null;
            /** @enum {string} */
            readonly channel: "webhook" | "slack" | "email";
            readonly target: string;
            /** @enum {string} */
            readonly state: "owed" | "delivered" | "failed";
            readonly attempts: number;
            readonly status: number | null;
            readonly error: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly lastTry: string | null;
            readonly nextTry: string | null;
            readonly problem: string;
            readonly tries: readonly {
                /** Format: date-time */
                readonly at: string;
                readonly duration: number;
                readonly status: number | null;
                readonly error: string;
                readonly request: {
                    readonly url: string;
                    readonly headers: {
                        readonly [key: string]: string;
                    };
                };
                readonly answer: string;
            }[];
        };
        readonly OneTimeLink: {
            readonly user: components["schemas"]["User"];
            readonly link: string;
            /** Format: date-time */
            readonly expiresAt: string;
        };
        readonly Pipeline: {
            readonly pipelineId: string;
            readonly projectId: string;
            readonly name: string;
            readonly description: string;
            readonly repoUrl: string;
            readonly defaultBranch: string;
            readonly pipelineFilePath: string;
            /** @enum {string} */
            readonly saveMode: "direct" | "pr";
            readonly prTargetBranch: string;
            readonly repoCredential: string;
            readonly repoProvider: string;
            readonly repoApiCredential: string;
            /** @enum {string} */
            readonly commitStatuses: "" | "off" | "run" | "jobs";
            readonly metadata: {
                readonly [key: string]: string;
            };
            readonly createdBy: string;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly updatedAt: string;
            readonly headCommitSha: string;
            /** @enum {string} */
            readonly status: "pending" | "running" | "success" | "failed" | "cancelled" | "paused";
            readonly lastRun: {
                readonly runId: string;
                /** @enum {string} */
                readonly status: "pending" | "running" | "success" | "failed" | "cancelled" | "paused" | "partial";
                readonly statusCode: number;
                /** Format: date-time */
                readonly createdAt: string;
            } | null;
            readonly lastRuns: readonly {
                readonly runId: string;
                /** @enum {string} */
                readonly status: "pending" | "running" | "success" | "failed" | "cancelled" | "paused" | "partial";
                readonly statusCode: number;
                /** Format: date-time */
                readonly createdAt: string;
            }[];
        };
        readonly PlainWait: {
            /** @enum {string} */
            readonly reason: "worker" | "paused" | "stage" | "needs" | "retry" | "parallel" | "no_agent_online" | "no_agent_matches" | "all_busy" | "quota" | "agent" | "approval" | "concurrency" | "job" | "step" | "start" | "token";
            readonly text: string;
            readonly needs?: readonly string[];
            readonly agents?: components["schemas"]["AgentFacts"];
            readonly quota?: {
                readonly name: string;
                readonly taken: number;
                readonly limit: number;
                readonly jobs?: readonly components["schemas"]["HeldJob"][];
            };
            readonly ahead?: number;
        };
        readonly Plan: {
            readonly trigger: {
                /** @enum {string} */
                readonly kind: "manual" | "cron" | "event";
                readonly ref: string;
                readonly event?: {
                    readonly deliveryId: string;
                    readonly name: string;
                    readonly sha: string;
                    readonly untrusted: boolean;
                };
            };
            readonly stages: readonly components["schemas"]["PlannedStage"][];
            readonly jobsCount: number;
            readonly stepsCount: number;
            readonly secrets: readonly {
                readonly name: string;
                readonly isSet: boolean | null;
            }[];
            readonly warnings: readonly components["schemas"]["Diagnostic"][];
        };
        readonly PlannedJob: {
            readonly name: string;
            readonly baseName: string;
            readonly matrix: {
                readonly [key: string]: string | number | boolean;
            };
            readonly cellsFrom: string | null;
            readonly needs: readonly string[];
            readonly when: string;
            readonly verdict: components["schemas"]["Verdict"];
            readonly approval: boolean;
            readonly selector: readonly string[];
            readonly steps: readonly components["schemas"]["PlannedStep"][];
            readonly agents: components["schemas"]["AgentMatch"] | null;
        };
        readonly PlannedStage: {
            readonly name: string;
            readonly when: string;
            readonly verdict: components["schemas"]["Verdict"];
            readonly approval: boolean;
            readonly jobs: readonly components["schemas"]["PlannedJob"][];
        };
        readonly PlannedStep: {
            readonly name: string;
            readonly id: string;
            readonly uses: string;
            readonly when: string;
            readonly verdict: components["schemas"]["Verdict"];
        };
        readonly Plugin: {
            readonly name: string;
            /** @enum {string} */
            readonly scope: "installation" | "tenant" | "project";
            readonly tenantId: string | null;
            readonly projectId: string | null;
            readonly manifest: components["schemas"]["PluginManifest"];
            readonly versions: readonly components["schemas"]["PluginVersion"][];
        };
        readonly PluginInList: {
            readonly name: string;
            /** @enum {string} */
            readonly scope: "installation" | "tenant" | "project";
            readonly tenantId: string | null;
            readonly projectId: string | null;
            readonly newest: string;
            readonly versions: number;
        };
        readonly PluginManifest: {
            readonly name: string;
            readonly version: string;
            readonly description: string;
            readonly actions: {
                readonly [key: string]: {
                    readonly description: string;
                    readonly args: (boolean | {
                        readonly [key: string]: unknown;
                    }) | null;
                    readonly outputs: readonly string[];
                    readonly command: readonly string[];
                };
            };
            readonly defaultAction: string | null;
            readonly platforms: readonly string[];
            readonly image?: string;
        };
        readonly PluginRelease: {
            readonly version: string;
            readonly sha256: string;
            readonly size: number;
            /** Format: date-time */
            readonly createdAt: string;
            readonly createdBy: string;
            readonly name: string;
            /** @enum {string} */
            readonly scope: "installation" | "tenant" | "project";
            readonly tenantId: string | null;
            readonly projectId: string | null;
            readonly manifest: components["schemas"]["PluginManifest"];
        };
        readonly PluginVersion: {
            readonly version: string;
            readonly sha256: string;
            readonly size: number;
            /** Format: date-time */
            readonly createdAt: string;
            readonly createdBy: string;
        };
        readonly Problem: {
            readonly code: string;
            readonly pointer: string;
            readonly message: string;
            readonly line?: number;
            readonly column?: number;
            readonly file?: string;
        };
        readonly Project: {
            readonly projectId: string;
            readonly tenantId: string;
            readonly name: string;
            readonly slug: string;
            readonly description: string;
            readonly archived: boolean;
            /** Format: date-time */
            readonly createdAt: string;
        };
        readonly ReceivedHookDelivery: {
            readonly deliveryId: string;
            /** @enum {string} */
            readonly state: "arriving" | "owed" | "done" | "failed";
            readonly duplicate: boolean;
            readonly runs: readonly string[];
        };
        readonly RegistrationToken: {
            readonly tokenId: string;
            readonly name: string;
            readonly createdBy: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly expiresAt: string | null;
            readonly maxUses: number | null;
            readonly uses: number;
            readonly usable: boolean;
            readonly labels: {
                readonly [key: string]: string;
            };
            readonly reach: {
                readonly tenantId: string;
                readonly projectIds: readonly string[] | null;
            } | null;
        };
        readonly RenewedLogin: {
            readonly accessToken: string;
            readonly expiresIn: number;
            readonly refreshToken: string;
            readonly userId: string;
        };
        readonly RepositoryCheck: {
            readonly pipelineId: string;
            readonly branch: string;
            readonly path: string;
            readonly headCommitSha: string | null;
            readonly canRead: boolean;
            readonly hasFile: boolean;
            readonly canPush: boolean | null;
            readonly canPropose: boolean | null;
            readonly canManageHooks: boolean | null;
            readonly problems: readonly {
                readonly code: string;
                readonly pointer: string;
                readonly message: string;
            }[];
        };
        readonly Rerun: {
            readonly runId: string;
            readonly pipelineId: string;
            /** @constant */
            readonly status: "pending";
            readonly statusCode: number;
            readonly attempt: number;
            readonly retryOf: string;
        };
        readonly Retention: {
            readonly projectId: string;
            readonly runs: components["schemas"]["RetentionBound"];
            readonly logs: components["schemas"]["RetentionBound"];
            readonly artifacts: components["schemas"]["RetentionBound"];
            readonly events: components["schemas"]["RetentionBound"];
            readonly own: readonly ("runs" | "logs" | "artifacts" | "events")[];
        };
        readonly RetentionBound: {
            readonly age: string | null;
            readonly perPipeline: number | null;
            readonly perProject: number | null;
        };
        readonly Revision: {
            readonly revisionId: string;
            readonly pipelineId: string;
            /** @enum {string} */
            readonly format: "json" | "yaml";
            readonly commitMessage: string;
            readonly editor: string;
            /** Format: date-time */
            readonly savedAt: string;
            readonly isHead: boolean;
            readonly commitSha: string | null;
            readonly branch: string | null;
            readonly pullRequest: {
                readonly number: number;
                readonly url: string;
                readonly branch: string;
                readonly targetBranch: string;
            } | null;
        };
        readonly RevisionDetail: {
            readonly revisionId: string;
            readonly pipelineId: string;
            /** @enum {string} */
            readonly format: "json" | "yaml";
            readonly commitMessage: string;
            readonly editor: string;
            /** Format: date-time */
            readonly savedAt: string;
            readonly isHead: boolean;
            readonly commitSha: string | null;
            readonly branch: string | null;
            readonly pullRequest: {
                readonly number: number;
                readonly url: string;
                readonly branch: string;
                readonly targetBranch: string;
            } | null;
            readonly spec: unknown;
            readonly text: string;
        };
        readonly RevisionDiff: {
            readonly from: string | null;
            readonly to: string;
            /** @enum {string} */
            readonly of: "text" | "definition";
            readonly diff: string;
        };
        readonly Role: {
            /** @enum {string} */
            readonly role: "owner" | "admin" | "maintainer" | "operator" | "viewer";
            readonly operations: readonly ("readPipelines" | "validateDefinition" | "readRuns" | "readLogs" | "readArtifacts" | "readCaches" | "readUploads" | "readEvents" | "readApprovals" | "readPlugins" | "readAgents" | "readProjects" | "manageOwnTokens" | "readOwnAccount" | "manageOwnNotifications" | "manageOwnAccount" | "decideApprovals" | "triggerRun" | "writeUploads" | "controlRun" | "controlSchedules" | "runAdHocSteps" | "updateStepRuns" | "deleteArtifacts" | "deleteCaches" | "deleteUploads" | "writePipelines" | "writeDefinitions" | "readVariables" | "writeVariables" | "readTenantVariables" | "writeTenantVariables" | "manageSecrets" | "manageWebhooks" | "manageTenantWebhooks" | "manageHooks" | "managePlugins" | "readTenantPlugins" | "manageTenantPlugins" | "readProjectPlugins" | "manageProjectPlugins" | "manageUsers" | "manageOthersTokens" | "manageAgents" | "createTenants" | "readTenants" | "manageTenants" | "deleteTenants" | "manageTenantMembers" | "manageProjectMembers" | "manageTeams" | "createProjects" | "manageProjects" | "deleteProjects" | "readAudit" | "readInstallationAudit" | "readSystemEvents" | "readAllSystemEvents" | "readInstallationEvents" | "readCluster" | "readRetention" | "writeRetention" | "readLogLimit" | "writeLogLimit" | "readTrustDemand" | "writeTrustDemand" | "readSettings" | "writeSettings" | "readTenantSettings" | "writeTenantSettings" | "readInstallationSettings" | "writeInstallationSettings" | "redriveDeadLetters")[];
        };
        readonly Run: {
            readonly runId: string;
            readonly pipelineId: string;
            readonly projectId: string;
            /** @enum {string} */
            readonly status: "pending" | "running" | "success" | "failed" | "cancelled" | "paused" | "partial";
            readonly statusCode: number;
            readonly trigger: {
                /** @enum {string} */
                readonly kind: "manual" | "cron" | "event";
                readonly ref: string;
                readonly event?: {
                    readonly deliveryId: string;
                    readonly name: string;
                    readonly sha: string;
                    readonly untrusted: boolean;
                };
            };
            readonly triggeredBy: string;
            readonly actor: string;
            readonly commitSha: string;
            readonly attempt: number;
            readonly retryOf: string | null;
            readonly adHoc: boolean;
            readonly waitingFor: (components["schemas"]["PlainWait"] | components["schemas"]["ApprovalWait"] | components["schemas"]["GroupWait"]) | null;
            /** Format: date-time */
            readonly createdAt: string;
            readonly startTime: string | null;
            readonly endTime: string | null;
            readonly duration: number;
        };
        readonly RunDetail: {
            readonly runId: string;
            readonly pipelineId: string;
            readonly projectId: string;
            /** @enum {string} */
            readonly status: "pending" | "running" | "success" | "failed" | "cancelled" | "paused" | "partial";
            readonly statusCode: number;
            readonly trigger: {
                /** @enum {string} */
                readonly kind: "manual" | "cron" | "event";
                readonly ref: string;
                readonly event?: {
                    readonly deliveryId: string;
                    readonly name: string;
                    readonly sha: string;
                    readonly untrusted: boolean;
                };
            };
            readonly triggeredBy: string;
            readonly actor: string;
            readonly commitSha: string;
            readonly attempt: number;
            readonly retryOf: string | null;
            readonly adHoc: boolean;
            readonly waitingFor: (components["schemas"]["PlainWait"] | components["schemas"]["ApprovalWait"] | components["schemas"]["GroupWait"]) | null;
            /** Format: date-time */
            readonly createdAt: string;
            readonly startTime: string | null;
            readonly endTime: string | null;
            readonly duration: number;
            readonly revisionId: string;
            readonly eventNumber: number;
            readonly retriedBy: string | null;
            readonly variables: {
                readonly [key: string]: string;
            };
            readonly inheritedVariables: {
                readonly [key: string]: string;
            };
            readonly uploads: {
                readonly [key: string]: {
                    readonly uploadId: string;
                    readonly name: string;
                    readonly size: number;
                    readonly sha256: string;
                };
            };
            readonly reason: string;
            readonly approvals: readonly components["schemas"]["Approval"][];
            readonly tests: components["schemas"]["TestCounts"] | null;
            readonly commitStatus: components["schemas"]["CommitStatus"] | null;
            readonly jobCount: number;
            readonly jobs: readonly components["schemas"]["Job"][];
        };
        readonly RunOutputs: {
            readonly runId: string;
            readonly jobs: readonly {
                readonly jobId: string;
                readonly name: string;
                /** @enum {string} */
                readonly status: "pending" | "queued" | "running" | "success" | "failed" | "cancelled";
                readonly outputs: {
                    readonly [key: string]: unknown;
                };
            }[];
        };
        readonly SavedSpec: {
            readonly pipelineId: string;
            readonly headCommitSha: string;
            readonly revisionId: string;
            /** @enum {string} */
            readonly format: "json" | "yaml";
            readonly pullRequest: {
                readonly number: number;
                readonly url: string;
                readonly branch: string;
                readonly targetBranch: string;
            } | null;
        };
        readonly Schedule: {
            readonly pipelineId: string;
            readonly scheduleId: string;
            readonly name: string;
            /** @enum {string} */
            readonly state: "active" | "paused";
            readonly schedule: string;
            readonly timezone: string;
            /** @enum {string} */
            readonly overlap: "allow" | "queue" | "cancelRunning" | "skip";
            /** @enum {string} */
            readonly catchUp: "none" | "latest" | "all";
            readonly jitter: number;
            readonly ref: string | null;
            readonly next: readonly string[];
            readonly waiting: readonly string[];
            readonly activeRuns: readonly string[];
            readonly pause: {
                /** Format: date-time */
                readonly at: string;
                readonly by: string;
                readonly reason: string;
            } | null;
        };
        readonly ScheduleDetail: {
            readonly pipelineId: string;
            readonly scheduleId: string;
            readonly name: string;
            /** @enum {string} */
            readonly state: "active" | "paused";
            readonly schedule: string;
            readonly timezone: string;
            /** @enum {string} */
            readonly overlap: "allow" | "queue" | "cancelRunning" | "skip";
            /** @enum {string} */
            readonly catchUp: "none" | "latest" | "all";
            readonly jitter: number;
            readonly ref: string | null;
            readonly next: readonly string[];
            readonly waiting: readonly string[];
            readonly activeRuns: readonly string[];
            readonly pause: {
                /** Format: date-time */
                readonly at: string;
                readonly by: string;
                readonly reason: string;
            } | null;
            readonly outcomes: readonly components["schemas"]["ScheduleOutcome"][];
        };
        readonly ScheduleOutcome: {
            /** Format: date-time */
            readonly at: string;
            /** Format: date-time */
            readonly until: string;
            readonly count: number | null;
            readonly runId: string | null;
            readonly reason: ("missed" | "later" | "window" | "limit" | "overlap" | "paused" | "refused") | null;
            readonly text: string;
            /** Format: date-time */
            readonly decidedAt: string;
        };
        readonly Secret: {
            readonly name: string;
            /** @enum {string} */
            readonly scope: "project" | "pipeline";
            readonly projectId: string;
            readonly pipelineId: string | null;
            readonly version: number;
            /** Format: date-time */
            readonly createdAt: string;
            readonly createdBy: string;
            /** Format: date-time */
            readonly updatedAt: string;
            readonly updatedBy: string;
        };
        readonly Session: {
            readonly sessionId: string;
            /** @enum {string} */
            readonly kind: "api" | "browser" | "device";
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly lastUsedAt: string;
            /** Format: date-time */
            readonly expiresAt: string;
            readonly address: string;
            readonly userAgent: string;
            readonly current: boolean;
        };
        readonly Settings: {
            /** @enum {string} */
            readonly scope: "project" | "tenant" | "installation";
            readonly settings: readonly {
                /** @enum {string} */
                readonly name: "retention.runs" | "retention.logs" | "retention.artifacts" | "retention.events" | "log.lines" | "log.bytes" | "trust.secrets" | "trust.protectedTargets" | "forks.approval" | "jobs.containers" | "jobs.idToken" | "jobs.api" | "quota.perProject" | "quota.perTenant" | "quota.labels" | "calls.perToken" | "calls.perAddress";
                readonly value: unknown;
                /** @enum {string} */
                readonly source: "project" | "tenant" | "installation" | "environment" | "default";
                readonly own: boolean;
            }[];
        };
        readonly Shard: {
            readonly shard: number;
            readonly owner: string | null;
            readonly epoch: number;
            readonly depth: {
                readonly waiting: number;
                readonly active: number;
                readonly delayed: number;
                readonly failed: number;
            };
            readonly oldestWaitingMs: number | null;
        };
        readonly Spec: {
            readonly pipelineId: string;
            readonly spec: unknown;
            readonly resolved: unknown;
            readonly includes: readonly {
                readonly path: string;
                readonly text: string | null;
            }[];
            readonly text: string;
            /** @enum {string} */
            readonly format: "json" | "yaml";
            readonly headCommitSha: string;
            readonly revisionId: string;
            readonly branch: string | null;
            readonly path: string | null;
            readonly diagnostics: readonly components["schemas"]["Diagnostic"][];
            readonly commitMessage: string;
            readonly editor: string;
            /** Format: date-time */
            readonly savedAt: string;
        };
        readonly StartTiming: {
            /** Format: date-time */
            readonly triggeredAt: string;
            /** Format: date-time */
            readonly plannedAt: string;
            readonly offeredAt: string | null;
            readonly claimedAt: string | null;
            readonly dispatchedAt: string | null;
            readonly startedAt: string | null;
            readonly waits: components["schemas"]["Waits"];
        };
        readonly Statistics: {
            readonly pipelineId: string;
            readonly from: string;
            readonly to: string;
            readonly runs: {
                readonly results: {
                    readonly success: number;
                    readonly failed: number;
                    readonly partial: number;
                    readonly cancelled: number;
                };
                readonly successRate: number | null;
                readonly flaky: number;
                readonly duration: components["schemas"]["Distribution"] | null;
                readonly waits: {
                    readonly plan: components["schemas"]["Distribution"] | null;
                    readonly stage: components["schemas"]["Distribution"] | null;
                    readonly needs: components["schemas"]["Distribution"] | null;
                    readonly paused: components["schemas"]["Distribution"] | null;
                    readonly agent: components["schemas"]["Distribution"] | null;
                    readonly start: components["schemas"]["Distribution"] | null;
                };
            };
            readonly jobs: readonly {
                readonly name: string;
                readonly results: {
                    readonly success: number;
                    readonly failed: number;
                    readonly partial: number;
                    readonly cancelled: number;
                };
                readonly successRate: number | null;
                readonly flaky: number;
                readonly duration: components["schemas"]["Distribution"] | null;
                readonly waits: {
                    readonly plan: components["schemas"]["Distribution"] | null;
                    readonly stage: components["schemas"]["Distribution"] | null;
                    readonly needs: components["schemas"]["Distribution"] | null;
                    readonly paused: components["schemas"]["Distribution"] | null;
                    readonly agent: components["schemas"]["Distribution"] | null;
                    readonly start: components["schemas"]["Distribution"] | null;
                };
            }[];
        };
        readonly Step: {
            readonly stepRunId: string;
            readonly name: string;
            /** @enum {string} */
            readonly status: "pending" | "queued" | "running" | "success" | "failed" | "cancelled" | "timeout" | "skipped";
            readonly statusCode: number;
            readonly attempt: number;
            readonly retryOf: string | null;
            readonly retriedBy: string | null;
            readonly reusedFrom: string | null;
            readonly exitCode: number | null;
            readonly reason: string;
            readonly lastLine: number | null;
            readonly usage: {
                readonly cpuMs: number;
                readonly maxRssBytes: number;
            } | null;
            readonly metadata?: {
                readonly [key: string]: string;
            };
            readonly startTime: string | null;
            readonly endTime: string | null;
            readonly duration: number;
            readonly timing: components["schemas"]["StartTiming"];
            readonly waitingFor: (components["schemas"]["PlainWait"] | components["schemas"]["ApprovalWait"] | components["schemas"]["GroupWait"]) | null;
        };
        readonly SystemEvent: {
            readonly specversion: string;
            readonly id: string;
            readonly source: string;
            readonly type: string;
            readonly subject: string;
            /** Format: date-time */
            readonly time: string;
            readonly datacontenttype: string;
            readonly data: {
                readonly id: string;
                readonly log: string;
                readonly number: number;
            } & {
                readonly [key: string]: unknown;
            };
        };
        readonly Team: {
            readonly teamId: string;
            readonly tenantId: string;
            readonly name: string;
            /** Format: date-time */
            readonly createdAt: string;
        };
        readonly TeamDetails: {
            readonly teamId: string;
            readonly tenantId: string;
            readonly name: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly members: readonly {
                readonly userId: string;
                readonly name: string;
            }[];
        };
        readonly Tenant: {
            readonly tenantId: string;
            readonly name: string;
            readonly slug: string;
            readonly archived: boolean;
            /** Format: date-time */
            readonly createdAt: string;
        };
        readonly TestCase: {
            readonly step: components["schemas"]["NotedStep"];
            readonly suite: string;
            readonly name: string;
            readonly file: string | null;
            readonly line: number | null;
            /** @enum {string} */
            readonly outcome: "failed" | "passed" | "skipped";
            readonly isFlaky: boolean;
            readonly durationMs: number;
            readonly message: string;
        };
        readonly TestCounts: {
            readonly total: number;
            readonly failed: number;
            readonly skipped: number;
            readonly flaky: number;
            readonly durationMs: number;
        };
        readonly TestHistory: {
            readonly job: string;
            readonly step: string;
            readonly suite: string;
            readonly name: string;
            readonly file: string | null;
            readonly line: number | null;
            readonly runs: number;
            readonly failed: number;
            readonly flaky: number;
            readonly failing: number;
            readonly durationMs: number;
            /** Format: date-time */
            readonly lastSeenAt: string;
            readonly results: readonly {
                readonly runId: string;
                /** Format: date-time */
                readonly at: string;
                /** @enum {string} */
                readonly outcome: "failed" | "passed" | "skipped";
                readonly isFlaky: boolean;
                readonly durationMs: number;
            }[];
        };
        readonly Ticket: {
            readonly ticket: string;
            readonly expiresIn: number;
        };
        readonly Timeline: {
            readonly runId: string;
            readonly list: readonly components["schemas"]["Transition"][];
            readonly next: number | null;
        };
        readonly Token: {
            readonly tokenId: string;
            readonly name: string;
            readonly scopes: readonly string[];
            readonly projects?: readonly string[];
            /** Format: date-time */
            readonly createdAt: string;
            readonly expiresAt: string | null;
            readonly lastUsedAt: string | null;
        };
        readonly Transition: {
            readonly number: number;
            /** Format: date-time */
            readonly time: string;
            /** @enum {string} */
            readonly object: "pipeline" | "job" | "step" | "approval";
            /** @enum {string} */
            readonly lifecycle: "created" | "queued" | "started" | "completed" | "failed" | "cancelled" | "timeout" | "skipped" | "paused" | "resumed" | "retried" | "waiting" | "stopping" | "requested" | "approved" | "rejected" | "expired" | "updated" | "pushed";
            readonly status: string;
            readonly jobId: string | null;
            readonly stepRunId: string | null;
            readonly name: string;
            readonly cause: string;
            readonly by: string;
            readonly type?: string;
            readonly payload?: {
                readonly [key: string]: unknown;
            };
        } & {
            readonly [key: string]: string | number | boolean | null | {
                readonly [key: string]: unknown;
            };
        };
        readonly TriggeredRun: {
            readonly runId: string;
            readonly pipelineId: string;
            /** @constant */
            readonly status: "pending";
            readonly statusCode: number;
        };
        readonly TrustDemand: {
            readonly projectId: string;
            readonly secrets: boolean;
            readonly protectedTargets: boolean;
        };
        readonly UpdatedStep: {
            readonly stepRunId: string;
            readonly jobId: string;
            readonly runId: string;
            /** @enum {string} */
            readonly status: "pending" | "queued" | "running" | "success" | "failed" | "cancelled" | "timeout" | "skipped";
            readonly statusCode: number;
            readonly priority: number;
            readonly metadata: {
                readonly [key: string]: string;
            };
        };
        readonly Upload: {
            readonly uploadId: string;
            readonly projectId: string;
            readonly name: string;
            /** @enum {string} */
            readonly status: "uploading" | "stored";
            readonly size: number;
            readonly sha256: string | null;
            readonly type: string;
            readonly sniffedType: string | null;
            readonly typeMatches: boolean | null;
            readonly createdBy: string;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string;
        };
        readonly UploadProgress: {
            readonly uploadId: string;
            readonly projectId: string;
            readonly name: string;
            /** @enum {string} */
            readonly status: "uploading" | "stored";
            readonly size: number;
            readonly sha256: string | null;
            readonly type: string;
            readonly sniffedType: string | null;
            readonly typeMatches: boolean | null;
            readonly createdBy: string;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string;
            readonly offset: number;
        };
        readonly User: {
            readonly userId: string;
            readonly name: string;
            readonly role: ("owner" | "admin" | "maintainer" | "operator" | "viewer") | null;
            readonly hasPassword: boolean;
            readonly disabled: boolean;
            /** Format: date-time */
            readonly createdAt: string;
            readonly email?: string;
            readonly ownedBy?: {
                readonly tenantId: string;
            } | {
                readonly projectId: string;
            };
        };
        readonly Validation: {
            readonly valid: boolean;
            readonly diagnostics: readonly components["schemas"]["Diagnostic"][];
            readonly jobsCount: number;
            readonly stepsCount: number;
        };
        readonly Variable: {
            readonly name: string;
            readonly value: string;
            /** Format: date-time */
            readonly updatedAt: string;
            readonly updatedBy: string;
        };
        readonly Verdict: {
            /** @enum {string} */
            readonly outcome: "runs" | "skipped" | "unknown";
            readonly decidedBy: string;
            readonly certain: boolean;
        };
        readonly Waits: {
            readonly plan: number | null;
            readonly stage: number | null;
            readonly needs: number | null;
            readonly paused: number | null;
            readonly agent: number | null;
            readonly start: number | null;
        };
        readonly Webhook: {
            readonly webhookId: string;
            readonly description: string;
            readonly address: string;
            readonly types: readonly string[];
            readonly ordered: boolean;
            readonly enabled: boolean;
            readonly disabled: {
                /** Format: date-time */
                readonly at: string;
                readonly reason: string;
            } | null;
            readonly failingSince: string | null;
            readonly earlierSecretUntil: string | null;
            /** Format: date-time */
            readonly createdAt: string;
            readonly createdBy: string;
            /** Format: date-time */
            readonly updatedAt: string;
        };
        readonly WebhookWithSecret: {
            readonly webhookId: string;
            readonly description: string;
            readonly address: string;
            readonly types: readonly string[];
            readonly ordered: boolean;
            readonly enabled: boolean;
            readonly disabled: {
                /** Format: date-time */
                readonly at: string;
                readonly reason: string;
            } | null;
            readonly failingSince: string | null;
            readonly earlierSecretUntil: string | null;
            /** Format: date-time */
            readonly createdAt: string;
            readonly createdBy: string;
            /** Format: date-time */
            readonly updatedAt: string;
            readonly secret: string;
        };
        readonly Whoami: {
            readonly user: components["schemas"]["User"];
            readonly scopes: readonly string[];
            readonly operations: readonly ("readPipelines" | "validateDefinition" | "readRuns" | "readLogs" | "readArtifacts" | "readCaches" | "readUploads" | "readEvents" | "readApprovals" | "readPlugins" | "readAgents" | "readProjects" | "manageOwnTokens" | "readOwnAccount" | "manageOwnNotifications" | "manageOwnAccount" | "decideApprovals" | "triggerRun" | "writeUploads" | "controlRun" | "controlSchedules" | "runAdHocSteps" | "updateStepRuns" | "deleteArtifacts" | "deleteCaches" | "deleteUploads" | "writePipelines" | "writeDefinitions" | "readVariables" | "writeVariables" | "readTenantVariables" | "writeTenantVariables" | "manageSecrets" | "manageWebhooks" | "manageTenantWebhooks" | "manageHooks" | "managePlugins" | "readTenantPlugins" | "manageTenantPlugins" | "readProjectPlugins" | "manageProjectPlugins" | "manageUsers" | "manageOthersTokens" | "manageAgents" | "createTenants" | "readTenants" | "manageTenants" | "deleteTenants" | "manageTenantMembers" | "manageProjectMembers" | "manageTeams" | "createProjects" | "manageProjects" | "deleteProjects" | "readAudit" | "readInstallationAudit" | "readSystemEvents" | "readAllSystemEvents" | "readInstallationEvents" | "readCluster" | "readRetention" | "writeRetention" | "readLogLimit" | "writeLogLimit" | "readTrustDemand" | "writeTrustDemand" | "readSettings" | "writeSettings" | "readTenantSettings" | "writeTenantSettings" | "readInstallationSettings" | "writeInstallationSettings" | "redriveDeadLetters")[];
            readonly bound: readonly {
                readonly area: {
                    readonly tenantId: string;
                } | {
                    readonly projectId: string;
                };
                /** @enum {string} */
                readonly role: "owner" | "admin" | "maintainer" | "operator" | "viewer";
                readonly operations: readonly ("readPipelines" | "validateDefinition" | "readRuns" | "readLogs" | "readArtifacts" | "readCaches" | "readUploads" | "readEvents" | "readApprovals" | "readPlugins" | "readAgents" | "readProjects" | "manageOwnTokens" | "readOwnAccount" | "manageOwnNotifications" | "manageOwnAccount" | "decideApprovals" | "triggerRun" | "writeUploads" | "controlRun" | "controlSchedules" | "runAdHocSteps" | "updateStepRuns" | "deleteArtifacts" | "deleteCaches" | "deleteUploads" | "writePipelines" | "writeDefinitions" | "readVariables" | "writeVariables" | "readTenantVariables" | "writeTenantVariables" | "manageSecrets" | "manageWebhooks" | "manageTenantWebhooks" | "manageHooks" | "managePlugins" | "readTenantPlugins" | "manageTenantPlugins" | "readProjectPlugins" | "manageProjectPlugins" | "manageUsers" | "manageOthersTokens" | "manageAgents" | "createTenants" | "readTenants" | "manageTenants" | "deleteTenants" | "manageTenantMembers" | "manageProjectMembers" | "manageTeams" | "createProjects" | "manageProjects" | "deleteProjects" | "readAudit" | "readInstallationAudit" | "readSystemEvents" | "readAllSystemEvents" | "readInstallationEvents" | "readCluster" | "readRetention" | "writeRetention" | "readLogLimit" | "writeLogLimit" | "readTrustDemand" | "writeTrustDemand" | "readSettings" | "writeSettings" | "readTenantSettings" | "writeTenantSettings" | "readInstallationSettings" | "writeInstallationSettings" | "redriveDeadLetters")[];
            }[];
        };
    };
    responses: {
        /** @description `already_exists`: the name is taken. */
        readonly already_exists: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `already_exists`: the name is taken. `conflict`: the state of the object does not allow it. */
        readonly "already_exists-or-conflict": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `already_exists`: the name is taken. `conflict`: the state of the object does not allow it. `request_id_reused`: the `requestId` or the `Idempotency-Key` was used with another body. */
        readonly "already_exists-or-conflict-or-request_id_reused": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `already_exists`: the name is taken. `request_id_reused`: the `requestId` or the `Idempotency-Key` was used with another body. `conflict`: the state of the object does not allow it. */
        readonly "already_exists-or-request_id_reused-or-conflict": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `conflict`: the state of the object does not allow it. */
        readonly conflict: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `conflict`: the state of the object does not allow it. `already_exists`: the name is taken. `request_id_reused`: the `requestId` or the `Idempotency-Key` was used with another body. */
        readonly "conflict-or-already_exists-or-request_id_reused": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `conflict`: the state of the object does not allow it. `head_moved`: another save changed the definition meanwhile. `request_id_reused`: the `requestId` or the `Idempotency-Key` was used with another body. */
        readonly "conflict-or-head_moved-or-request_id_reused": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `conflict`: the state of the object does not allow it. `request_id_reused`: the `requestId` or the `Idempotency-Key` was used with another body. */
        readonly "conflict-or-request_id_reused": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `deadline_exceeded`: the caller's deadline has passed. */
        readonly deadline_exceeded: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `forbidden`: the role, the scopes or the kind of the token are not enough. */
        readonly forbidden: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `git_refused`: a Git server refuses the call, or the definition cannot be read from it. */
        readonly git_refused: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `head_moved`: another save changed the definition meanwhile. `request_id_reused`: the `requestId` or the `Idempotency-Key` was used with another body. */
        readonly "head_moved-or-request_id_reused": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `internal`: the program has a fault. */
        readonly internal: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `malformed_request`: the request has unknown, missing or wrong fields. */
        readonly malformed_request: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `malformed_request`: the request has unknown, missing or wrong fields. `invalid_definition`: the definition has errors. */
        readonly "malformed_request-or-invalid_definition": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `malformed_request`: the request has unknown, missing or wrong fields. `invalid_definition`: the definition has errors. `too_large`: the stored or answered data would exceed a limit. */
        readonly "malformed_request-or-invalid_definition-or-too_large": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `malformed_request`: the request has unknown, missing or wrong fields. `too_large`: the stored or answered data would exceed a limit. */
        readonly "malformed_request-or-too_large": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `not_acceptable`: `Accept` refuses the type of the answer. */
        readonly not_acceptable: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `not_found`: there is no such object or path, or it was removed. */
        readonly not_found: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `payload_too_large`: the body is too large. */
        readonly payload_too_large: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `precondition_failed`: the object is not the one that `If-Match` names. */
        readonly precondition_failed: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `range_not_satisfiable`: the range begins after the end of the file. */
        readonly range_not_satisfiable: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `request_id_reused`: the `requestId` or the `Idempotency-Key` was used with another body. */
        readonly request_id_reused: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `too_many`: there are too many objects or calls of this kind. */
        readonly too_many: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unauthenticated`: there is no token, or one that is unknown, expired or revoked. */
        readonly unauthenticated: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unavailable`: the store, Redis or a worker is unavailable. */
        readonly unavailable: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_media_type`: the `Content-Type` is not the one that the route takes. */
        readonly unsupported_media_type: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly readOpenApi: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": unknown;
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readDocs: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": unknown;
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readDefinitionSchema: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": unknown;
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly login: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string;
                    readonly password: string;
                    /** @default false */
                    readonly refresh?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Login"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly refreshLogin: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly refreshToken: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["RenewedLogin"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly requestDeviceCode: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/x-www-form-urlencoded": unknown;
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeviceCode"];
                };
            };
            /** @description Success. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeviceRefusal"] | components["schemas"]["Error"];
                };
            };
            readonly 406: components["responses"]["not_acceptable"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly takeDeviceToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/x-www-form-urlencoded": unknown;
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeviceTokens"];
                };
            };
            /** @description Success. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeviceRefusal"] | components["schemas"]["Error"];
                };
            };
            readonly 406: components["responses"]["not_acceptable"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly receiveHookDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly hookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": unknown;
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["ReceivedHookDelivery"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listUsers: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["User"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string;
                    readonly role: ("owner" | "admin" | "maintainer" | "operator" | "viewer") | null;
                    /** Format: email */
                    readonly email?: string;
                    readonly password?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["User"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-request_id_reused-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["User"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly changeUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name?: string;
                    readonly role?: ("owner" | "admin" | "maintainer" | "operator" | "viewer") | null;
                    readonly disabled?: boolean;
                    /** Format: email */
                    readonly email?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["User"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-conflict"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly endLogins: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly whoami: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Whoami"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listRoles: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Role"][];
                            readonly total: number;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTokens: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Token"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly name: string;
                    /** @default [] */
                    readonly scopes?: readonly ("act-as" | "admin" | "write" | "trigger" | "read")[];
                    readonly projects?: readonly string[];
                    readonly expiresIn?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["NewToken"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-request_id_reused-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly userId: string;
                readonly tokenId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly issueIdToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly audience?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["IdToken"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listRegistrationTokens: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["RegistrationToken"][];
                            readonly total: number;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createRegistrationToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly name: string;
                    readonly expiresIn?: string;
                    readonly maxUses?: number;
                    readonly labels?: {
                        readonly [key: string]: string;
                    };
                    readonly reach?: {
                        readonly tenantId: string;
                    } | {
                        readonly projectIds: readonly string[];
                    };
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["NewRegistrationToken"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-request_id_reused-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteRegistrationToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tokenId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly setTrustedLabels: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly agentId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly labels: {
                        readonly [key: string]: string;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Agent"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly setAgentReach: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly agentId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly reach: ({
                        readonly tenantId: string;
                    } | {
                        readonly projectIds: readonly string[];
                    }) | null;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Agent"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly revokeAgentToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly agentId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getAgent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly agentId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["AgentDetail"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteAgent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly agentId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly drainAgent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly agentId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /**
                     * @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u.
                     * @default
                     */
                    readonly reason?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Agent"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly undrainAgent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly agentId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Agent"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readAgentDemand: {
        readonly parameters: {
            readonly query?: {
                readonly projectId?: string;
                readonly tenantId?: string;
                readonly labels?: string;
                readonly trusted?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["AgentDemand"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listAgents: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Agent"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly findRuns: {
        readonly parameters: {
            readonly query?: {
                readonly limit?: number;
                readonly after?: string;
                readonly mine?: "true" | "false";
                readonly projectId?: string;
                readonly pipelineId?: string;
                readonly status?: string;
                readonly ref?: string;
                readonly trigger?: "manual" | "cron" | "event";
                readonly triggeredBy?: string;
                readonly from?: string;
                readonly before?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Run"][];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listEnvironments: {
        readonly parameters: {
            readonly query?: {
                readonly limit?: number;
                readonly after?: string;
                readonly projectId?: string;
                readonly environment?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Environment"][];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listDeployments: {
        readonly parameters: {
            readonly query: {
                readonly limit?: number;
                readonly after?: string;
                readonly projectId?: string;
                readonly environment: string;
                readonly pipelineId?: string;
                readonly status?: "pending" | "queued" | "running" | "success" | "failed" | "cancelled";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Deployment"][];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listRuns: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly pageSize?: number;
                readonly sort?: "createdAt" | "-createdAt";
                readonly status?: "pending" | "running" | "success" | "failed" | "cancelled" | "paused" | "partial";
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Run"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly page: number;
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readStatistics: {
        readonly parameters: {
            readonly query?: {
                readonly days?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Statistics"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTests: {
        readonly parameters: {
            readonly query?: {
                readonly filter?: "flaky" | "failing" | "slowest";
                readonly after?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["TestHistory"][];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getRun: {
        readonly parameters: {
            readonly query?: {
                readonly attempts?: "newest" | "all";
                readonly jobs?: string;
            };
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["RunDetail"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getRunOfPipeline: {
        readonly parameters: {
            readonly query?: {
                readonly attempts?: "newest" | "all";
                readonly jobs?: string;
            };
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["RunDetail"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readTimeline: {
        readonly parameters: {
            readonly query?: {
                readonly after?: number;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Timeline"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listAgentEvents: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly pageSize?: number;
                readonly after?: string;
                readonly sort?: "receivedAt" | "-receivedAt";
            };
            readonly header?: never;
            readonly path: {
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["AgentEvent"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly page: number;
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readRunOutputs: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["RunOutputs"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly rerunRun: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @enum {string} */
                    readonly scope: "all" | "failed" | "step";
                    readonly stepRunId?: string;
                    readonly triggeredBy?: string;
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Rerun"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-invalid_definition-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly cancelJob: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
                readonly jobId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly reason?: string;
                    readonly operator?: string;
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["CancelledJob"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly cancelStep: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
                readonly stepRunId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly reason?: string;
                    readonly operator?: string;
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["CancelledStep"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getStepRun: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
                readonly stepRunId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["UpdatedStep"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly updateStepRun: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
                readonly stepRunId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly priority?: number;
                    readonly metadata?: {
                        readonly [key: string]: string;
                    };
                    readonly operator?: string;
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["UpdatedStep"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly stopRun: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly reason?: string;
                    readonly operator?: string;
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Command"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly pauseRun: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly reason?: string;
                    readonly operator?: string;
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Command"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly resumeRun: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly reason?: string;
                    readonly operator?: string;
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Command"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly searchStepLog: {
        readonly parameters: {
            readonly query: {
                readonly q: string;
                readonly pattern?: "true" | "false";
                readonly ignoreCase?: "true" | "false";
                readonly context?: number;
                readonly limit?: number;
                readonly after?: string;
                readonly level?: string;
                readonly stream?: "stdout" | "stderr";
            };
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
                readonly stepRunId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["LogMatch"][];
                            readonly searchedLines: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
            readonly 504: components["responses"]["deadline_exceeded"];
        };
    };
    readonly searchRunLogs: {
        readonly parameters: {
            readonly query: {
                readonly q: string;
                readonly pattern?: "true" | "false";
                readonly ignoreCase?: "true" | "false";
                readonly context?: number;
                readonly limit?: number;
                readonly after?: string;
                readonly level?: string;
                readonly stream?: "stdout" | "stderr";
            };
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["LogMatch"][];
                            readonly searchedLines: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
            readonly 504: components["responses"]["deadline_exceeded"];
        };
    };
    readonly searchPipelineLogs: {
        readonly parameters: {
            readonly query: {
                readonly q: string;
                readonly pattern?: "true" | "false";
                readonly ignoreCase?: "true" | "false";
                readonly context?: number;
                readonly limit?: number;
                readonly after?: string;
                readonly level?: string;
                readonly stream?: "stdout" | "stderr";
            };
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["LogMatch"][];
                            readonly searchedLines: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
            readonly 504: components["responses"]["deadline_exceeded"];
        };
    };
    readonly readLogText: {
        readonly parameters: {
            readonly query?: {
                readonly timestamps?: "true" | "false";
                readonly ticket?: string;
                readonly level?: string;
                readonly stream?: "stdout" | "stderr";
            };
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
                readonly stepRunId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": unknown;
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readLogArchive: {
        readonly parameters: {
            readonly query?: {
                /** @description Of `POST /auth/tickets`, in place of a token. */
                readonly ticket?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/zip": unknown;
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listAnnotations: {
        readonly parameters: {
            readonly query?: {
                readonly stepRunId?: string;
                readonly attempts?: "latest" | "all";
                readonly after?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly {
                                readonly step: components["schemas"]["NotedStep"];
                                readonly annotations: readonly components["schemas"]["Annotation"][];
                                readonly leftOut: number;
                            }[];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listSummaries: {
        readonly parameters: {
            readonly query?: {
                readonly stepRunId?: string;
                readonly attempts?: "latest" | "all";
                readonly after?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly {
                                readonly step: components["schemas"]["NotedStep"];
                                readonly markdown: string;
                                readonly html: string;
                                readonly isCut: boolean;
                            }[];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTestReports: {
        readonly parameters: {
            readonly query?: {
                readonly stepRunId?: string;
                readonly attempts?: "latest" | "all";
                readonly after?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly tests: components["schemas"]["TestCounts"];
                            readonly list: readonly {
                                readonly step: components["schemas"]["NotedStep"];
                                readonly total: number;
                                readonly failed: number;
                                readonly skipped: number;
                                readonly flaky: number;
                                readonly durationMs: number;
                                readonly kept: number;
                                readonly problems: readonly string[];
                            }[];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTestCases: {
        readonly parameters: {
            readonly query?: {
                readonly stepRunId?: string;
                readonly attempts?: "latest" | "all";
                readonly after?: string;
                readonly limit?: number;
                readonly filter?: "all" | "failed" | "flaky" | "slowest";
            };
            readonly header?: never;
            readonly path: {
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["TestCase"][];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readNotificationChoices: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["NotificationChoices"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly replaceNotificationChoices: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly choices: readonly {
                        readonly projectId: string;
                        readonly on: readonly ("failure" | "fixed" | "success" | "approval" | "waiting")[];
                        /**
                         * @default mine
                         * @enum {string}
                         */
                        readonly runs?: "mine" | "all";
                        readonly longerThan?: string | null;
                    }[];
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["NotificationChoices"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listNotificationsOfRun: {
        readonly parameters: {
            readonly query?: {
                readonly state?: "owed" | "delivered" | "failed";
                readonly after?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Notification"][];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readNotificationOfRun: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly runId: string;
                readonly notificationId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["NotificationDetail"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly resendNotification: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly runId: string;
                readonly notificationId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Notification"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listCommitStatuses: {
        readonly parameters: {
            readonly query?: {
                readonly state?: "owed" | "delivered" | "failed";
                readonly after?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["CommitStatus"][];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listNotificationsOfProject: {
        readonly parameters: {
            readonly query?: {
                readonly state?: "owed" | "delivered" | "failed";
                readonly after?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Notification"][];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readNotificationOfProject: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly notificationId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["NotificationDetail"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listApprovals: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly pageSize?: number;
                readonly after?: string;
                readonly sort?: "requestedAt" | "-requestedAt";
                readonly status?: "pending" | "approved" | "rejected" | "expired" | "cancelled";
                readonly projectId?: string;
                readonly pipelineId?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["ApprovalForCaller"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly page: number;
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listRunApprovals: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly runId: string;
                            readonly list: readonly components["schemas"]["ApprovalForCaller"][];
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly approve: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
                readonly approvalId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly comment?: string;
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["ApprovalForCaller"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly reject: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
                readonly approvalId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly comment?: string;
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["ApprovalForCaller"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listArtifacts: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly pageSize?: number;
                readonly after?: string;
                readonly name?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Artifact"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly page: number;
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getArtifact: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly runId: string;
                readonly artifactId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["ArtifactDetails"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteArtifact: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly runId: string;
                readonly artifactId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readArtifact: {
        readonly parameters: {
            readonly query?: {
                /** @description Of `POST /auth/tickets`, in place of a token. */
                readonly ticket?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly runId: string;
                readonly artifactId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": unknown;
                };
            };
            /** @description The part that `Range` asks for. */
            readonly 206: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": unknown;
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Success. */
            readonly 307: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": unknown;
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 416: components["responses"]["range_not_satisfiable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readArtifactFile: {
        readonly parameters: {
            readonly query?: {
                /** @description Of `POST /auth/tickets`, in place of a token. */
                readonly ticket?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly runId: string;
                readonly artifactId: string;
                /** @description It may contain slashes. */
                readonly path: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": unknown;
                };
            };
            /** @description The part that `Range` asks for. */
            readonly 206: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": unknown;
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Success. */
            readonly 307: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": unknown;
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 416: components["responses"]["range_not_satisfiable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listCaches: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly pageSize?: number;
                readonly after?: string;
                readonly prefix?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Cache"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly page: number;
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteCaches: {
        readonly parameters: {
            readonly query: {
                readonly prefix: string;
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly deleted: number;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteCache: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly cacheId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listUploads: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Upload"][];
                            readonly total: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createUpload: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string;
                    readonly size: number;
                    /** @default application/octet-stream */
                    readonly type?: string;
                    readonly sha256?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["UploadProgress"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly uploadFile: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "multipart/form-data": unknown;
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["UploadProgress"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getUpload: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly uploadId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["UploadProgress"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteUpload: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly uploadId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readUpload: {
        readonly parameters: {
            readonly query?: {
                /** @description Of `POST /auth/tickets`, in place of a token. */
                readonly ticket?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly uploadId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": unknown;
                };
            };
            /** @description The part that `Range` asks for. */
            readonly 206: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": unknown;
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Success. */
            readonly 307: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": unknown;
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 416: components["responses"]["range_not_satisfiable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly appendToUpload: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly uploadId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/offset+octet-stream": unknown;
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["UploadProgress"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listPipelines: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly pageSize?: number;
                readonly sort?: "createdAt" | "-createdAt" | "name" | "-name";
                readonly after?: string;
                readonly projectId?: string;
                readonly name?: string;
                readonly status?: "pending" | "running" | "success" | "failed" | "cancelled" | "paused";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Pipeline"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly page: number;
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createPipeline: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly projectId?: string;
                    readonly name: string & (unknown & unknown);
                    readonly description?: string;
                    readonly repoUrl?: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly defaultBranch?: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly pipelineFilePath?: string;
                    /** @enum {string} */
                    readonly saveMode?: "direct" | "pr";
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly prTargetBranch?: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly repoCredential?: string;
                    /** @enum {string} */
                    readonly repoProvider?: "" | "github" | "gitlab" | "gitea" | "forgejo" | "bitbucket";
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly repoApiCredential?: string;
                    /** @enum {string} */
                    readonly commitStatuses?: "" | "off" | "run" | "jobs";
                    readonly metadata?: {
                        readonly [key: string]: string;
                    };
                    readonly createdBy?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Pipeline"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 422: components["responses"]["git_refused"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getPipeline: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Pipeline"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly updatePipeline: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly projectId?: string;
                    readonly name?: string & (unknown & unknown);
                    readonly description?: string;
                    readonly repoUrl?: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly defaultBranch?: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly pipelineFilePath?: string;
                    /** @enum {string} */
                    readonly saveMode?: "direct" | "pr";
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly prTargetBranch?: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly repoCredential?: string;
                    /** @enum {string} */
                    readonly repoProvider?: "" | "github" | "gitlab" | "gitea" | "forgejo" | "bitbucket";
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly repoApiCredential?: string;
                    /** @enum {string} */
                    readonly commitStatuses?: "" | "off" | "run" | "jobs";
                    readonly metadata?: {
                        readonly [key: string]: string;
                    };
                    readonly createdBy?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Pipeline"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 422: components["responses"]["git_refused"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deletePipeline: {
        readonly parameters: {
            readonly query?: {
                readonly force?: "true" | "false";
            };
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getSpec: {
        readonly parameters: {
            readonly query?: {
                readonly ref?: string;
            };
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Spec"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 422: components["responses"]["git_refused"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly validateSpec: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly spec: {
                        readonly [key: string]: unknown;
                    };
                    /**
                     * @default yaml
                     * @enum {string}
                     */
                    readonly format?: "json" | "yaml" | "yml";
                    readonly layout?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Validation"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly saveSpec: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly spec: {
                        readonly [key: string]: unknown;
                    };
                    /**
                     * @default yaml
                     * @enum {string}
                     */
                    readonly format?: "json" | "yaml" | "yml";
                    readonly layout?: string;
                    readonly expectedHeadCommitSha?: string;
                    readonly commitMessage?: string;
                    readonly requestId?: string;
                    readonly editor?: string;
                    /** @enum {string} */
                    readonly saveMode?: "direct" | "pr";
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["SavedSpec"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-invalid_definition-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["head_moved-or-request_id_reused"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 422: components["responses"]["git_refused"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly moveDefinition: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @constant */
                    readonly to: "git";
                    readonly repoUrl: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly defaultBranch?: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly pipelineFilePath?: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly repoCredential?: string;
                    readonly commitMessage?: string;
                    readonly editor?: string;
                    readonly requestId?: string;
                } | {
                    /** @constant */
                    readonly to: "inline";
                    readonly commitMessage?: string;
                    readonly editor?: string;
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Pipeline"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-invalid_definition"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-head_moved-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 422: components["responses"]["git_refused"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly planPipeline: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly spec?: {
                        readonly [key: string]: unknown;
                    };
                    /**
                     * @default yaml
                     * @enum {string}
                     */
                    readonly format?: "json" | "yaml" | "yml";
                    /** @default {} */
                    readonly trigger?: {
                        /**
                         * @default manual
                         * @enum {string}
                         */
                        readonly kind?: "manual" | "cron" | "event";
                        readonly ref?: string;
                        /** @default {} */
                        readonly payload?: {
                            readonly [key: string]: unknown;
                        };
                    };
                    /** @default {} */
                    readonly variables?: {
                        readonly [key: string]: string;
                    };
                    readonly uploads?: {
                        readonly [key: string]: string;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Plan"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-invalid_definition-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 422: components["responses"]["git_refused"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly triggerRun: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /** @default {} */
                    readonly variables?: {
                        readonly [key: string]: string;
                    };
                    readonly triggeredBy?: string;
                    readonly requestId?: string;
                    readonly uploads?: {
                        readonly [key: string]: string;
                    };
                    readonly ref?: string;
                    readonly branch?: string;
                    readonly commit?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["TriggeredRun"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-invalid_definition-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 422: components["responses"]["git_refused"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly discoverDefinitions: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly repoUrl: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly defaultBranch?: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly repoCredential?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Discovery"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 422: components["responses"]["git_refused"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly makePipelines: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly repoUrl: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly defaultBranch?: string;
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly repoCredential?: string;
                    /** @enum {string} */
                    readonly saveMode?: "direct" | "pr";
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly prTargetBranch?: string;
                    /** @enum {string} */
                    readonly repoProvider?: "" | "github" | "gitlab" | "gitea" | "forgejo" | "bitbucket";
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly repoApiCredential?: string;
                    readonly files: readonly {
                        /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                        readonly path: string;
                        readonly name?: string & (unknown & unknown);
                    }[];
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["MadePipelines"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 422: components["responses"]["git_refused"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly checkRepository: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["RepositoryCheck"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly checkHostHook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["HostHook"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 422: components["responses"]["git_refused"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly connectHostHook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["HostHook"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 422: components["responses"]["git_refused"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listRevisions: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Revision"][];
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getRevision: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
                readonly revisionId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["RevisionDetail"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly diffRevisions: {
        readonly parameters: {
            readonly query?: {
                readonly against?: string;
                readonly of?: "text" | "definition";
            };
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
                readonly revisionId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["RevisionDiff"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-invalid_definition-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly restoreRevision: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly revisionId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly expectedHeadCommitSha?: string;
                    readonly commitMessage?: string;
                    readonly requestId?: string;
                    readonly editor?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["SavedSpec"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-invalid_definition-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["head_moved-or-request_id_reused"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 422: components["responses"]["git_refused"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listSchedules: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Schedule"][];
                            readonly total: number;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getSchedule: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
                readonly scheduleName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["ScheduleDetail"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly pauseSchedule: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly scheduleName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly reason?: string;
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Schedule"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly resumeSchedule: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly scheduleName: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly reason?: string;
                    readonly requestId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Schedule"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listProjectSecrets: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Secret"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly page: number;
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createProjectSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string;
                    readonly value: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Secret"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-request_id_reused-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getProjectSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Secret"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly replaceProjectSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly value: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Secret"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteProjectSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listPipelineSecrets: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Secret"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly page: number;
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createPipelineSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string;
                    readonly value: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Secret"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-request_id_reused-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getPipelineSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Secret"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly replacePipelineSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly pipelineId: string;
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly value: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Secret"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deletePipelineSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTenantVariables: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Variable"][];
                            readonly total: number;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getTenantVariable: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Variable"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly putTenantVariable: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly value: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Variable"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteTenantVariable: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listProjectVariables: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Variable"][];
                            readonly total: number;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getProjectVariable: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Variable"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly putProjectVariable: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly value: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Variable"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteProjectVariable: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTenantWebhooks: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Webhook"][];
                            readonly total: number;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createTenantWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly url: string;
                    /**
                     * @default [
                     *       "*"
                     *     ]
                     */
                    readonly types?: readonly string[];
                    /** @default false */
                    readonly ordered?: boolean;
                    readonly description?: string & (unknown & unknown);
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["WebhookWithSecret"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getTenantWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
                readonly webhookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Webhook"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteTenantWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
                readonly webhookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly changeTenantWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
                readonly webhookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly url?: string;
                    readonly types?: readonly string[];
                    readonly ordered?: boolean;
                    readonly description?: string & (unknown & unknown);
                    readonly enabled?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Webhook"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly rotateTenantWebhookSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
                readonly webhookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["WebhookWithSecret"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTenantWebhookDeliveries: {
        readonly parameters: {
            readonly query?: {
                readonly state?: "owed" | "delivered" | "failed";
                readonly runId?: string;
                readonly after?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                readonly webhookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["DeliveryInList"][];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getTenantWebhookDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                readonly webhookId: string;
                readonly deliveryId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Delivery"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly redeliverTenantWebhookDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                readonly webhookId: string;
                readonly deliveryId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Delivery"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listProjectWebhooks: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Webhook"][];
                            readonly total: number;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createProjectWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly url: string;
                    /**
                     * @default [
                     *       "*"
                     *     ]
                     */
                    readonly types?: readonly string[];
                    /** @default false */
                    readonly ordered?: boolean;
                    readonly description?: string & (unknown & unknown);
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["WebhookWithSecret"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getProjectWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly webhookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Webhook"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteProjectWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly webhookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly changeProjectWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly webhookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly url?: string;
                    readonly types?: readonly string[];
                    readonly ordered?: boolean;
                    readonly description?: string & (unknown & unknown);
                    readonly enabled?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Webhook"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly rotateProjectWebhookSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly webhookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["WebhookWithSecret"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listProjectWebhookDeliveries: {
        readonly parameters: {
            readonly query?: {
                readonly state?: "owed" | "delivered" | "failed";
                readonly runId?: string;
                readonly after?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly webhookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["DeliveryInList"][];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getProjectWebhookDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly webhookId: string;
                readonly deliveryId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Delivery"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly redeliverProjectWebhookDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly webhookId: string;
                readonly deliveryId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Delivery"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listHooks: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Hook"][];
                            readonly total: number;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createHook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string & (unknown & unknown);
                    /** @enum {string} */
                    readonly kind: "github" | "gitlab" | "gitea" | "forgejo" | "bitbucket" | "generic";
                    /** @enum {string} */
                    readonly proof?: "signature" | "standard" | "token" | "none";
                    readonly secret?: string;
                    /** @default 600 */
                    readonly perMinute?: number;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Hook"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict-or-already_exists-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getHook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly hookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Hook"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteHook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly hookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly changeHook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly hookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name?: string & (unknown & unknown);
                    /** @enum {string} */
                    readonly proof?: "signature" | "standard" | "token" | "none";
                    readonly secret?: string;
                    readonly perMinute?: number;
                    readonly enabled?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Hook"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listHookDeliveries: {
        readonly parameters: {
            readonly query?: {
                readonly state?: "arriving" | "owed" | "done" | "failed";
                readonly after?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly hookId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["HookDeliveryInList"][];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getHookDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly hookId: string;
                readonly deliveryId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["HookDelivery"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly redeliverHookDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly hookId: string;
                readonly deliveryId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["HookDelivery"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listPlugins: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly pageSize?: number;
                readonly after?: string;
                readonly name?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["PluginInList"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly page: number;
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly pushPlugin: {
        readonly parameters: {
            readonly query?: {
                readonly sha256?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/gzip": unknown;
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["PluginRelease"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getPluginRelease: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description It may contain slashes. */
                readonly name: string;
                readonly version: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["PluginRelease"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deletePluginRelease: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description It may contain slashes. */
                readonly name: string;
                readonly version: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getPlugin: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description It may contain slashes. */
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Plugin"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTenantPlugins: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly pageSize?: number;
                readonly after?: string;
                readonly name?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["PluginInList"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly page: number;
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly pushTenantPlugin: {
        readonly parameters: {
            readonly query?: {
                readonly sha256?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/gzip": unknown;
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["PluginRelease"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getTenantPluginRelease: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                /** @description It may contain slashes. */
                readonly name: string;
                readonly version: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["PluginRelease"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteTenantPluginRelease: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                /** @description It may contain slashes. */
                readonly name: string;
                readonly version: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getTenantPlugin: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                /** @description It may contain slashes. */
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Plugin"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listProjectPlugins: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly pageSize?: number;
                readonly after?: string;
                readonly name?: string;
                readonly inherited?: "true" | "false";
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["PluginInList"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly page: number;
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly pushProjectPlugin: {
        readonly parameters: {
            readonly query?: {
                readonly sha256?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/gzip": unknown;
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["PluginRelease"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request-or-too_large"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getProjectPluginRelease: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                /** @description It may contain slashes. */
                readonly name: string;
                readonly version: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["PluginRelease"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteProjectPluginRelease: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                /** @description It may contain slashes. */
                readonly name: string;
                readonly version: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getProjectPlugin: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                /** @description It may contain slashes. */
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Plugin"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readCluster: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Cluster"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listDeadLetters: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly pageSize?: number;
                readonly after?: string;
                readonly sort?: "at" | "-at";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["DeadLetter"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly page: number;
                            readonly pageSize: number;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly redriveDeadLetter: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly id: string;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listAudit: {
        readonly parameters: {
            readonly query?: {
                readonly actor?: string;
                readonly operation?: string;
                readonly object?: string;
                readonly project?: string;
                readonly outcome?: "done" | "refused";
                readonly since?: string;
                readonly until?: string;
                readonly after?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["AuditEntry"][];
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly exportAudit: {
        readonly parameters: {
            readonly query?: {
                readonly actor?: string;
                readonly operation?: string;
                readonly object?: string;
                readonly project?: string;
                readonly outcome?: "done" | "refused";
                readonly since?: string;
                readonly until?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/x-ndjson": unknown;
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listSystemEvents: {
        readonly parameters: {
            readonly query?: {
                readonly log?: string;
                readonly objects?: string;
                readonly after?: number;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["SystemEvent"][];
                            readonly after: number;
                            readonly newest: number;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listProjects: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Project"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createProject: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string & (unknown & unknown);
                    readonly slug?: string;
                    /** @default  */
                    readonly description?: string;
                    readonly tenantId?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Project"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-conflict-or-request_id_reused"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getProject: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Project"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteProject: {
        readonly parameters: {
            readonly query?: {
                readonly force?: "true" | "false";
            };
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly changeProject: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name?: string & (unknown & unknown);
                    readonly slug?: string;
                    readonly description?: string;
                    readonly archived?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Project"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-conflict"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTenants: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Tenant"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createTenant: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string & (unknown & unknown);
                    readonly slug?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Tenant"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-request_id_reused-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getTenant: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Tenant"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteTenant: {
        readonly parameters: {
            readonly query?: {
                readonly force?: "true" | "false";
            };
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly changeTenant: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name?: string & (unknown & unknown);
                    readonly slug?: string;
                    readonly archived?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Tenant"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-conflict"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTeams: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Team"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createTeam: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string & (unknown & unknown);
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Team"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-request_id_reused-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getTeam: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
                readonly teamId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["TeamDetails"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteTeam: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                readonly teamId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly renameTeam: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
                readonly teamId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string & (unknown & unknown);
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Team"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly addToTeam: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                readonly teamId: string;
                readonly member: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["TeamDetails"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly removeFromTeam: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                readonly teamId: string;
                readonly member: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTenantMembers: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Member"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getTenantMember: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
                readonly member: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Member"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly putTenantMember: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
                readonly member: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @enum {string} */
                    readonly role: "owner" | "admin" | "maintainer" | "operator" | "viewer";
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Member"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteTenantMember: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                readonly member: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listProjectMembers: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Member"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getProjectMember: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly member: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Member"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly putProjectMember: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly member: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @enum {string} */
                    readonly role: "owner" | "admin" | "maintainer" | "operator" | "viewer";
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Member"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteProjectMember: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly member: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTenantServiceAccounts: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["User"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createTenantServiceAccount: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["User"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-request_id_reused-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteTenantServiceAccount: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listTenantServiceTokens: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Token"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createTenantServiceToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly tenantId: string;
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly name: string;
                    /** @default [] */
                    readonly scopes?: readonly ("act-as" | "admin" | "write" | "trigger" | "read")[];
                    readonly projects?: readonly string[];
                    readonly expiresIn?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["NewToken"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-request_id_reused-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteTenantServiceToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly tenantId: string;
                readonly userId: string;
                readonly tokenId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listProjectServiceAccounts: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["User"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createProjectServiceAccount: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["User"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-request_id_reused-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteProjectServiceAccount: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listProjectServiceTokens: {
        readonly parameters: {
            readonly query?: {
                readonly pageSize?: number;
                readonly after?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Token"][];
                            readonly total: number;
                            readonly totalIsExact: boolean;
                            readonly next: string | null;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createProjectServiceToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly projectId: string;
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @description It must match /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u. */
                    readonly name: string;
                    /** @default [] */
                    readonly scopes?: readonly ("act-as" | "admin" | "write" | "trigger" | "read")[];
                    readonly projects?: readonly string[];
                    readonly expiresIn?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["NewToken"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-request_id_reused-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteProjectServiceToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly projectId: string;
                readonly userId: string;
                readonly tokenId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getRetention: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Retention"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly setRetention: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly runs?: {
                        readonly age?: string | null;
                        /** @default null */
                        readonly perPipeline?: number | null;
                        /** @default null */
                        readonly perProject?: number | null;
                    };
                    readonly logs?: {
                        readonly age?: string | null;
                        /** @default null */
                        readonly perPipeline?: number | null;
                        /** @default null */
                        readonly perProject?: number | null;
                    };
                    readonly artifacts?: {
                        readonly age?: string | null;
                        /** @default null */
                        readonly perPipeline?: number | null;
                        /** @default null */
                        readonly perProject?: number | null;
                    };
                    readonly events?: {
                        readonly age?: string | null;
                        /** @default null */
                        readonly perPipeline?: number | null;
                        /** @default null */
                        readonly perProject?: number | null;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Retention"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getLogLimit: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["LogLimit"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly setLogLimit: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    readonly lines?: number;
                    readonly bytes?: number;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["LogLimit"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getTrustDemand: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["TrustDemand"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly setTrustDemand: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /** @default false */
                    readonly secrets?: boolean;
                    /** @default false */
                    readonly protectedTargets?: boolean;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["TrustDemand"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getInstallationSettings: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Settings"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly setInstallationSettings: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly values: {
                        readonly "retention.runs"?: {
                            readonly age?: string | null;
                            /** @default null */
                            readonly perPipeline?: number | null;
                            /** @default null */
                            readonly perProject?: number | null;
                        };
                        readonly "retention.logs"?: {
                            readonly age?: string | null;
                            /** @default null */
                            readonly perPipeline?: number | null;
                            /** @default null */
                            readonly perProject?: number | null;
                        };
                        readonly "retention.artifacts"?: {
                            readonly age?: string | null;
                            /** @default null */
                            readonly perPipeline?: number | null;
                            /** @default null */
                            readonly perProject?: number | null;
                        };
                        readonly "retention.events"?: {
                            readonly age?: string | null;
                            /** @default null */
                            readonly perPipeline?: number | null;
                            /** @default null */
                            readonly perProject?: number | null;
                        };
                        readonly "log.lines"?: number;
                        readonly "log.bytes"?: number;
                        readonly "trust.secrets"?: boolean;
                        readonly "trust.protectedTargets"?: boolean;
                        /** @enum {string} */
                        readonly "forks.approval"?: "always" | "firstTime" | "never";
                        readonly "jobs.containers"?: boolean;
                        readonly "jobs.idToken"?: boolean;
                        /** @enum {string} */
                        readonly "jobs.api"?: "none" | "read" | "trigger" | "write";
                        readonly "quota.perProject"?: number;
                        readonly "quota.perTenant"?: number;
                        readonly "quota.labels"?: readonly {
                            readonly key: string;
                            readonly value: string;
                            readonly limit: number;
                        }[];
                        readonly "calls.perToken"?: number;
                        readonly "calls.perAddress"?: number;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Settings"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getTenantSettings: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Settings"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly setTenantSettings: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly tenantId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly values: {
                        readonly "retention.runs"?: {
                            readonly age?: string | null;
                            /** @default null */
                            readonly perPipeline?: number | null;
                            /** @default null */
                            readonly perProject?: number | null;
                        };
                        readonly "retention.logs"?: {
                            readonly age?: string | null;
                            /** @default null */
                            readonly perPipeline?: number | null;
                            /** @default null */
                            readonly perProject?: number | null;
                        };
                        readonly "retention.artifacts"?: {
                            readonly age?: string | null;
                            /** @default null */
                            readonly perPipeline?: number | null;
                            /** @default null */
                            readonly perProject?: number | null;
                        };
                        readonly "retention.events"?: {
                            readonly age?: string | null;
                            /** @default null */
                            readonly perPipeline?: number | null;
                            /** @default null */
                            readonly perProject?: number | null;
                        };
                        readonly "log.lines"?: number;
                        readonly "log.bytes"?: number;
                        readonly "trust.secrets"?: boolean;
                        readonly "trust.protectedTargets"?: boolean;
                        /** @enum {string} */
                        readonly "forks.approval"?: "always" | "firstTime" | "never";
                        readonly "jobs.containers"?: boolean;
                        readonly "jobs.idToken"?: boolean;
                        /** @enum {string} */
                        readonly "jobs.api"?: "none" | "read" | "trigger" | "write";
                        readonly "quota.perProject"?: number;
                        readonly "quota.perTenant"?: number;
                        readonly "quota.labels"?: readonly {
                            readonly key: string;
                            readonly value: string;
                            readonly limit: number;
                        }[];
                        readonly "calls.perToken"?: number;
                        readonly "calls.perAddress"?: number;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Settings"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getProjectSettings: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Answers 304 while the object has this `ETag`. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Settings"];
                        readonly timestamp: number;
                    };
                };
            };
            /** @description What the caller has is current. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly setProjectSettings: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Changes the object only while it has this `ETag`; else 412. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly values: {
                        readonly "retention.runs"?: {
                            readonly age?: string | null;
                            /** @default null */
                            readonly perPipeline?: number | null;
                            /** @default null */
                            readonly perProject?: number | null;
                        };
                        readonly "retention.logs"?: {
                            readonly age?: string | null;
                            /** @default null */
                            readonly perPipeline?: number | null;
                            /** @default null */
                            readonly perProject?: number | null;
                        };
                        readonly "retention.artifacts"?: {
                            readonly age?: string | null;
                            /** @default null */
                            readonly perPipeline?: number | null;
                            /** @default null */
                            readonly perProject?: number | null;
                        };
                        readonly "retention.events"?: {
                            readonly age?: string | null;
                            /** @default null */
                            readonly perPipeline?: number | null;
                            /** @default null */
                            readonly perProject?: number | null;
                        };
                        readonly "log.lines"?: number;
                        readonly "log.bytes"?: number;
                        readonly "trust.secrets"?: boolean;
                        readonly "trust.protectedTargets"?: boolean;
                        /** @enum {string} */
                        readonly "forks.approval"?: "always" | "firstTime" | "never";
                        readonly "jobs.containers"?: boolean;
                        readonly "jobs.idToken"?: boolean;
                        /** @enum {string} */
                        readonly "jobs.api"?: "none" | "read" | "trigger" | "write";
                        readonly "quota.perProject"?: number;
                        readonly "quota.perTenant"?: number;
                        readonly "quota.labels"?: readonly {
                            readonly key: string;
                            readonly value: string;
                            readonly limit: number;
                        }[];
                        readonly "calls.perToken"?: number;
                        readonly "calls.perAddress"?: number;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Settings"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 412: components["responses"]["precondition_failed"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly openWebSocket: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The connection speaks WebSocket from here on. */
            readonly 101: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly followRun: {
        readonly parameters: {
            readonly query: {
                readonly runId: string;
                readonly after?: number | string;
                readonly ticket?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": unknown;
                };
            };
            /** @description Nothing can follow: the call need not be repeated. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly followRuns: {
        readonly parameters: {
            readonly query?: {
                readonly tenantId?: string;
                readonly projectId?: string;
                readonly pipelineId?: string;
                readonly status?: string;
                readonly after?: string;
                readonly ticket?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": unknown;
                };
            };
            /** @description Nothing can follow: the call need not be repeated. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly followApprovals: {
        readonly parameters: {
            readonly query?: {
                readonly tenantId?: string;
                readonly projectId?: string;
                readonly pipelineId?: string;
                readonly status?: string;
                readonly after?: string;
                readonly ticket?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": unknown;
                };
            };
            /** @description Nothing can follow: the call need not be repeated. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly followAgents: {
        readonly parameters: {
            readonly query?: {
                readonly agentId?: string;
                readonly after?: string;
                readonly ticket?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": unknown;
                };
            };
            /** @description Nothing can follow: the call need not be repeated. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly followSystem: {
        readonly parameters: {
            readonly query?: {
                readonly log?: string;
                readonly objects?: string;
                readonly after?: number | string;
                readonly ticket?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": unknown;
                };
            };
            /** @description Nothing can follow: the call need not be repeated. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readLog: {
        readonly parameters: {
            readonly query?: {
                readonly from?: number;
                readonly to?: number;
                readonly tail?: number;
                readonly before?: number;
                readonly around?: number;
                readonly limit?: number;
                readonly ticket?: string;
                readonly level?: string;
                readonly stream?: "stdout" | "stderr";
            };
            readonly header?: never;
            readonly path: {
                readonly pipelineId: string;
                readonly runId: string;
                readonly stepRunId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["LogEntry"][];
                            readonly lines: number;
                            readonly lastLine: number | null;
                            readonly isComplete: boolean;
                            readonly firstError: number | null;
                            readonly firstStderr: number | null;
                            readonly previous: number | null;
                            readonly next: number | null;
                        };
                        readonly timestamp: number;
                    };
                    readonly "text/event-stream": unknown;
                };
            };
            /** @description Nothing can follow: the call need not be repeated. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly logOut: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createTicket: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["Ticket"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listSessions: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            readonly list: readonly components["schemas"]["Session"][];
                            readonly total: number;
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly endSession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly userId: string;
                readonly sessionId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly setPassword: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly password: string;
                    readonly currentPassword?: string;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createResetLink: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly userId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /** @default 1 */
                    readonly days?: number;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["OneTimeLink"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly invite: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Makes the call safe to repeat, as `requestId` does. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly name: string;
                    /** @default null */
                    readonly role?: ("owner" | "admin" | "maintainer" | "operator" | "viewer") | null;
                    /** @default [] */
                    readonly bound?: readonly {
                        readonly area: {
                            readonly tenantId: string;
                        } | {
                            readonly projectId: string;
                        };
                        /** @enum {string} */
                        readonly role: "owner" | "admin" | "maintainer" | "operator" | "viewer";
                    }[];
                    /** @default [] */
                    readonly teams?: readonly string[];
                    /** Format: email */
                    readonly email?: string;
                    /** @default 7 */
                    readonly days?: number;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["OneTimeLink"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["already_exists-or-request_id_reused-or-conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly renewInvitation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly user: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /** @default 7 */
                    readonly days?: number;
                };
            };
        };
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: components["schemas"]["OneTimeLink"];
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 401: components["responses"]["unauthenticated"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 409: components["responses"]["conflict"];
            readonly 413: components["responses"]["payload_too_large"];
            readonly 415: components["responses"]["unsupported_media_type"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly isAlive: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            /** @constant */
                            readonly status: "alive";
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly isReady: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly code: 0;
                        readonly msg: string;
                        readonly detail: {
                            /** @constant */
                            readonly status: "ready";
                            readonly checks: readonly string[];
                            readonly warnings?: {
                                readonly [key: string]: string;
                            };
                        };
                        readonly timestamp: number;
                    };
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readOpenIdConfiguration: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": unknown;
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readJsonWebKeySet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": unknown;
                };
            };
            readonly 400: components["responses"]["malformed_request"];
            readonly 404: components["responses"]["not_found"];
            readonly 406: components["responses"]["not_acceptable"];
            readonly 429: components["responses"]["too_many"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
}
