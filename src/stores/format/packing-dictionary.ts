/**
 * Texts that the records of runs have in common, for packed-text.ts. Bytes are packed against exactly this text, and can be
 * unpacked with no other: it never changes, even when a record gets new fields. The most frequent texts come last, because a
 * reference to them is the shortest. The control characters are the marks of packed-text.ts.
 */
const PLAN =
  '"container":null,"services":[],"secrets":[],"permissions":{"idToken":false},"junit":["matchExpressions":[{"key":"os","operator":"in","values":["linux"]}],' +
  '"outputs":[["notifications":[{"channel":"webhook","on":["failure"],"approval":{"approvers":[' +
  '"retry":{"attempts":3,"on":["agent_lost","dispatch_failed","failure"],"exitCodes":[],"delayMs":1000,' +
  '"script":"set -e\\nnpm ci\\nnpm test\\necho git clone ","uses":"checkout","uses":"artifact","uses":"cache",' +
  '"workingDirectory":"","artifacts":[],"late":[],"secrets":[]}],"schema":8}]},"env":[["CI","true"]],"args":{"command":"' +
  '"],"jobs":[{"env":[],"late":[],"steps":[{"name":"build","uses":"shell","plugin":null,"action":"","args":{"script":"' +
  '{"graph":{"pipelineId":"pl_01","projectId":"prj_01","projectId":"default","namespace":"","timeoutMs":null,"group":null,' +
  '"stages":[{"name":"default","when":null,"approval":null}],"jobs":[{"name":"test","baseName":"test","stage":0,"matrix":[],' +
  '"cells":null,"failFast":false,"maxParallel":null,"when":null,"approval":null,"group":null,"continueOnError":false,' +
  '"timeoutMs":null,"queueTimeoutMs":null,"cancelGraceMs":10000,"leaseMs":30000,"priority":0,"retry":{"attempts":2,' +
  '"on":["agent_lost","dispatch_failed"],"exitCodes":[],"delayMs":0,"backoff":1,"maxDelayMs":3600000},"selector":{' +
  '"matchLabels":[["os","linux"]],"matchLabels":[],"matchExpressions":[]},"outputs":[],"steps":[{"name":"test","id":"","when":null,' +
  '"continueOnError":false,"timeoutMs":null,"retry":null}],"index":0,"needs":[],"dependents":[]}],"schema":8},"jobs":[{"env":[],' +
  '"late":[],"steps":[{"name":"step","uses":"shell","plugin":null,"action":"","args":{"command":"true"},"env":[],' +
  '"workingDirectory":"","artifacts":[],"late":[],"secrets":[]}],"schema":8}]}';

const STATES =
  '"metadata":[["eventsThrough":"pushedEvents":"priority":"waits":{"reason":"' +
  '{"runId":"\u0001","pipelineId":"pl_01","projectId":"prj_01","projectId":"default","retryOf":null,"state":"failed","state":"cancelled",' +
  '"state":"success","reason":"","createdAt":179,"startedAt":179,"endedAt":179,"stage":0,"remainingInStage":0,"remaining":0,' +
  '"failedJobs":0,"toleratedJobs":0,"timedOut":false,"place":null,"stageApproval":null,"startTimer":null,"timeoutTimer":null,"schema":8}' +
  '{"runId":"\u0001","jobId":"\u0002","index":0,"cell":null,"matrix":[],"cells":[],"attempt":1,"retryOf":null,"leaseMs":30000,' +
  '"state":"success","reason":"","place":null,"gaveWayTo":null,"attemptsBefore":0,"reusedFrom":null,"stageOpen":true,"openNeeds":[],' +
  '"upstreamFailed":false,"paused":false,"queuedAt":179,"waits":null,"startedAt":179,"endedAt":179,"grant":{"agentId":"agt_01",' +
  '"bootId":"","requestId":"","token":179},"quotas":[],"fence":179,"stepIndex":1,"failing":"step_failed","failing":"","stepAttempt":1,' +
  '"firstStep":0,"stepActive":false,"cleanup":"none","generation":1,"queueTimer":null,"queueLeftMs":null,"timeoutTimer":null,' +
  '"retryTimer":null,"schema":8}' +
  '{"runId":"\u0001","jobId":"\u0003","stepRunId":"\u0002","jobIndex":0,"jobAttempt":1,"index":0,"attempt":1,"retryOf":null,' +
  '"state":"skipped","state":"timeout","state":"failed","state":"success","reason":"","grant":{"agentId":"agt_01","bootId":"","requestId":"","token":179},' +
  '"queuedAt":179,"startedAt":179,"endedAt":179,"exitCode":1,"exitCode":0,"attemptsBefore":0,"reusedFrom":null,"hasOutputs":true,' +
  '"hasOutputs":false,"lastLine":0,"usage":{"cpuMs":0,"maxRssBytes":0},"schema":8}';

const EVENTS =
  '"lifecycle":"pushed","data":{"sequence":"object":"approval","lifecycle":"requested","lifecycle":"approved","approvalId":"apr_01' +
  '"lifecycle":"paused","lifecycle":"resumed","lifecycle":"retried","status":"paused","lifecycle":"updated","lifecycle":"waiting","cause":"timer:' +
  '"lifecycle":"timeout","status":"timeout","lifecycle":"stopping","reason":"agent_lost","reason":"step_failed","reason":"exit_code",' +
  '"lifecycle":"skipped","status":"skipped","lifecycle":"cancelled","status":"cancelled","cause":"stop","lifecycle":"failed","status":"failed","status":"partial",' +
  '["pl_01","lifecycle":"created","jobId":null,"stepRunId":null,"status":"pending","data":{"runId":"\u0001' +
  '","reason":"","retryOf":null,"cause":"trigger","by":"admin"},"timeMs":179},' +
  '{"object":"pipeline","lifecycle":"started","jobId":null,"stepRunId":null,"status":"running","data":{"runId":"\u0001' +
  '","reason":"","retryOf":null,"cause":"trigger","by":""},"timeMs":179},' +
  '{"object":"job","lifecycle":"queued","jobId":"job_01","stepRunId":null,"status":"queued","data":{"index":0,"attempt":1,"retryOf":null,' +
  '"reason":"","agentId":null,"cause":"trigger","by":""},"timeMs":179},' +
  '{"object":"job","lifecycle":"started","jobId":"job_01","stepRunId":null,"status":"running","data":{"index":0,"attempt":1,"retryOf":null,' +
  '"reason":"","agentId":"agt_01","cause":"claimRequested","by":"agt_01"},"timeMs":179},' +
  '{"object":"step","lifecycle":"queued","jobId":"job_01","stepRunId":"step_01","status":"queued","data":{"index":0,"jobIndex":0,"attempt":1,' +
  '"retryOf":null,"reason":"","exitCode":null,"agentId":"agt_01","cause":"claimRequested","by":"agt_01"},"timeMs":179},' +
  '{"object":"step","lifecycle":"started","jobId":"job_01","stepRunId":"step_01","status":"running","data":{"index":0,"jobIndex":0,"attempt":1,' +
  '"retryOf":null,"reason":"","exitCode":0,"agentId":"agt_01","cause":"reported","by":"agt_01"},"timeMs":179},' +
  '{"object":"step","lifecycle":"completed","jobId":"job_01","stepRunId":"step_01","status":"success","data":{"index":0,"jobIndex":0,"attempt":1,' +
  '"retryOf":null,"reason":"","exitCode":0,"agentId":"agt_01","cause":"reported","by":"agt_01"},"timeMs":179},' +
  '{"object":"job","lifecycle":"completed","jobId":"job_01","stepRunId":null,"status":"success","data":{"index":0,"attempt":1,"retryOf":null,' +
  '"reason":"","agentId":"agt_01","cause":"reported","by":"agt_01"},"timeMs":179},' +
  '{"object":"pipeline","lifecycle":"completed","jobId":null,"stepRunId":null,"status":"success","data":{"runId":"\u0001' +
  '","reason":"","retryOf":null,"cause":"reported","by":"agt_01"},"timeMs":179}]';

export const DICTIONARY: Buffer = Buffer.from(PLAN + STATES + EVENTS);
