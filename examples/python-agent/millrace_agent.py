"""A small agent for millrace in Python: the protocol of docs/agent-protocol.md over grpcio, with steps that use `shell`.

Settings come from the environment: MILLRACE_GATEWAY, MILLRACE_REGISTRATION_TOKEN (for the first start),
MILLRACE_AGENT_NAME, MILLRACE_DATA_DIR, and PULL=1 for separate calls instead of a Connect stream. README.md shows how to
generate the stubs.
"""
import json, os, queue, random, shutil, signal, subprocess, sys, tempfile, threading, time, uuid
from collections import deque
from pathlib import Path

BATCH_LINES, BATCH_BYTES, BUFFER_BYTES, LINE_BYTES = 1_000, 256 * 1024, 8 << 20, 16 * 1024
REPORT_AGAIN_S, DRAIN_S, LAST_REPORTS_S = 5, 25, 2
PULL = os.environ.get("PULL") == "1"


def supervise(argv):
    """Runs one command in a process group of its own. The supervisor's standard input is a pipe from the agent. The byte T
    sends SIGTERM to the group, and K sends SIGKILL. When the pipe closes, the group is killed; the pipe also closes when the
    agent is killed with kill -9."""
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        sys.stderr.write(f"cannot start {argv[0]}: {error.strerror}\n")
        return 127

    def kill(number):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            pass

    def listen():
        while request := os.read(0, 1):
            kill(signal.SIGTERM if request == b"T" else signal.SIGKILL)
        kill(signal.SIGKILL)

    threading.Thread(target=listen, daemon=True).start()
    code = child.wait()
    kill(signal.SIGKILL)  # Kills the processes that the command has left in the background.
    return code if code >= 0 else 128 - code


if __name__ == "__main__" and sys.argv[1:2] == ["--supervise"]:
    os._exit(supervise(sys.argv[2:]))

import grpc
from google.protobuf.json_format import MessageToDict, ParseDict

sys.path.insert(0, str(Path(__file__).resolve().parent / "stubs"))
from agent.v1 import agent_pb2 as pb, agent_pb2_grpc
from gateway.v1 import gateway_pb2 as gw, gateway_pb2_grpc



class Journal:
    """A file with the step runs that were started, how each ended, and whether the control plane has acknowledged the end.
    It is kept over restarts, since a step run must never start twice with the same token."""

    def __init__(self, file):
        self.entries = {}  # (step run id, token) -> {held, report, settled}
        for line in file.read_text().splitlines() if file.exists() else []:
            try:
                self.apply(json.loads(line))
            except ValueError:
                pass  # The line is incomplete: an earlier agent was killed while it wrote.
        self.file = open(file, "a", buffering=1)
        for entry in list(self.entries.values()):
            if entry["report"] is None:
                self.end(lost(entry["held"], "the agent was restarted while the step ran"))

    def apply(self, record):
        key = (record["step"], record["token"])
        if "run" in record:
            held = pb.HeldStepRun(run_id=record["run"], job_id=record["job"], step_run_id=key[0], token=key[1])
            self.entries.setdefault(key, {"held": held, "report": None, "settled": False})
        elif "report" in record:
            self.entries[key]["report"] = ParseDict(record["report"], pb.StepReport())
        else:
            self.entries[key]["settled"] = True

    def write(self, held, **record):
        record = {"step": held.step_run_id, "token": held.token, **record}
        self.file.write(json.dumps(record) + "\n")
        self.apply(record)

    def begin(self, held):
        self.write(held, run=held.run_id, job=held.job_id)

    def end(self, report):
        self.write(report, report=MessageToDict(report))

    def settle(self, entry):
        if entry and entry["report"] is not None and not entry["settled"]:
            self.write(entry["held"], settled=True)

    def unsettled(self):
        return [entry for entry in self.entries.values() if not entry["settled"]]


def lost(held, reason, phase=pb.STEP_PHASE_LOST):
    return pb.StepReport(run_id=held.run_id, job_id=held.job_id, step_run_id=held.step_run_id, token=held.token,
                         phase=phase, exit_code=-1, reason=reason)


class Shipper:
    """Sends log lines. Each line gets its number once and is kept until it is stored. When too many lines wait, the oldest
    are dropped and a gap record replaces them."""

    def __init__(self, agent):
        self.agent, self.logs, self.changed, self.broken = agent, {}, threading.Condition(), False

    def open(self, held):
        log = {"held": held, "waiting": deque(), "sent": 0, "bytes": 0, "last": 0, "ended": False}
        with self.changed:
            self.logs[(held.step_run_id, held.token)] = log
        return log

    def add(self, log, stream, content):
        with self.changed:
            log["last"] += 1
            log["waiting"].append(gw.LogLine(line=log["last"], time_ms=now_ms(), stream=stream, content=content))
            log["bytes"] += len(content)
            if log["bytes"] > BUFFER_BYTES:
                self.drop(log)
            self.changed.notify_all()

    def drop(self, log):
        first, count = log["waiting"][0].line, len(log["waiting"]) // 2
        dropped = [log["waiting"].popleft() for _ in range(count)]
        log["bytes"] -= sum(len(line.content) for line in dropped)
        log["sent"] = 0
        through = log["waiting"][0].line
        log["waiting"].appendleft(gw.LogLine(line=first, time_ms=now_ms(), lost=through - first))

    def forget(self, step_run_id, token):
        with self.changed:
            self.logs.pop((step_run_id, token), None)
            self.changed.notify_all()

    def finish(self, log):
        with self.changed:
            log["ended"] = True
            self.tidy(log)

    def tidy(self, log):
        if log["ended"] and not log["waiting"]:
            self.logs.pop((log["held"].step_run_id, log["held"].token), None)
        self.changed.notify_all()

    def batches(self):
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.broken or any(len(x["waiting"]) > x["sent"] for x in self.logs.values()))
                if self.broken:
                    return
                log = next(x for x in self.logs.values() if len(x["waiting"]) > x["sent"])
                lines, size = [], 0
                for line in list(log["waiting"])[log["sent"]:log["sent"] + BATCH_LINES]:
                    size += len(line.content.encode())
                    if lines and size > BATCH_BYTES:
                        break
                    lines.append(line)
                log["sent"] += len(lines)
                held = log["held"]
            yield gw.PushLogsRequest(run_id=held.run_id, step_run_id=held.step_run_id, token=held.token, lines=lines)

    def answered(self, answer):
        with self.changed:
            log = self.logs.get((answer.step_run_id, answer.token))
            if log is None:
                return
            if answer.verdict != gw.PUSH_LOGS_VERDICT_STORED:
                self.logs.pop((answer.step_run_id, answer.token))
                return
            while log["waiting"] and log["waiting"][0].line <= answer.stored_through:
                log["bytes"] -= len(log["waiting"].popleft().content)
                log["sent"] = max(0, log["sent"] - 1)
            self.tidy(log)

    def run(self):
        while True:
            with self.changed:
                self.changed.wait_for(lambda: any(x["waiting"] for x in self.logs.values()))
                self.broken = False
                for log in self.logs.values():
                    log["sent"] = 0  # All lines are sent again. The control plane drops those that it has stored.
            try:
                for answer in self.agent.gateway.PushLogs(self.batches(), metadata=self.agent.metadata()):
                    self.answered(answer)
            except grpc.RpcError:
                pass
            with self.changed:
                self.broken = True
                self.changed.notify_all()
            time.sleep(0.3)


class Step:
    """One step run: its process under a supervisor, its timeout, and the report of its end."""

    def __init__(self, agent, dispatch):
        self.agent, self.dispatch, self.process, self.cause, self.silent = agent, dispatch, None, None, False
        self.log = agent.shipper.open(dispatch)
        self.ended = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def end(self, phase, reason, grace_s):
        """Asks the step to end, and kills it after the grace. The first cause counts."""
        with self.agent.lock:
            self.cause = self.cause or (phase, reason)
            self.request(b"T" if grace_s > 0 else b"K")
        if grace_s > 0:
            timer = threading.Timer(grace_s, self.request, [b"K"])
            timer.daemon = True
            timer.start()

    def request(self, request):
        """Writes T or K to the supervisor."""
        try:
            if self.process is not None:
                os.write(self.process.stdin.fileno(), request)
        except (OSError, ValueError):
            pass  # The supervisor has ended.

    def run(self):
        started = 0
        try:
            code, started = self.execute()
            phase = pb.STEP_PHASE_SUCCEEDED if code == 0 else pb.STEP_PHASE_FAILED
            report = lost(self.dispatch, "" if code == 0 else f"exit code {code}", phase)
            report.exit_code = code
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            report = lost(self.dispatch, str(error), pb.STEP_PHASE_FAILED)
        if self.cause is not None:
            report.phase, report.reason = self.cause
        if report.phase != pb.STEP_PHASE_LOST:
            self.read_outputs(report)
        report.last_line, report.started_at_ms, report.ended_at_ms = self.log["last"], started, now_ms()
        self.agent.shipper.finish(self.log)
        self.agent.step_ended(self, report)
        self.ended.set()

    def execute(self):
        dispatch = self.dispatch
        workspace = self.agent.workspace(dispatch.job_id)
        workspace.mkdir(parents=True, exist_ok=True)
        folder = (workspace / dispatch.working_directory).resolve()
        if workspace.resolve() not in [folder, *folder.parents]:
            raise ValueError(f"the working directory {dispatch.working_directory} is outside of the workspace")
        with tempfile.TemporaryDirectory(dir=self.agent.folder) as scratch:
            self.outputs = Path(scratch) / "outputs"
            self.outputs.touch()
            env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "USER") if name in os.environ}
            env.update({pair.name: pair.value for pair in dispatch.env}, MILLRACE_OUTPUT=str(self.outputs))
            argv = self.command(Path(scratch) / "script")
            with self.agent.lock:
                if self.cause is not None:
                    return -1, 0
                self.process = subprocess.Popen(
                    [sys.executable, "-I", "-S", os.path.abspath(__file__), "--supervise", *argv], cwd=folder, env=env,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
            started = now_ms()
            self.agent.report_start(dispatch, started)
            if dispatch.timeout_ms > 0:
                grace_s = dispatch.cancel_grace_ms / 1000
                arguments = [pb.STEP_PHASE_TIMED_OUT, "the step's timeout has passed", grace_s]
                timer = threading.Timer(dispatch.timeout_ms / 1000, self.end, arguments)
                timer.daemon = True
                timer.start()
            pipes = ((self.process.stdout, gw.LOG_STREAM_STDOUT), (self.process.stderr, gw.LOG_STREAM_STDERR))
            readers = [threading.Thread(target=self.read, args=pipe, daemon=True) for pipe in pipes]
            for reader in readers:
                reader.start()
            for reader in readers:
                reader.join()
            code = self.process.wait()
            if dispatch.timeout_ms > 0:
                timer.cancel()
            self.written = self.outputs.read_text()
            return code, started

    def command(self, script):
        dispatch = self.dispatch
        if dispatch.uses not in ("shell", "shell@v1") or dispatch.action:
            raise ValueError(f'this agent cannot run steps that use "{dispatch.uses}"')
        args = json.loads(dispatch.args_json or "{}")
        if "script" not in args:
            return [args["command"], *map(str, args.get("args", []))]
        script.write_text(args["script"])
        return [*args.get("shell", "sh -e").split(), str(script)]

    def read(self, pipe, stream):
        while line := pipe.readline(LINE_BYTES):
            self.agent.shipper.add(self.log, stream, line.rstrip(b"\n").decode(errors="replace"))

    def read_outputs(self, report):
        for line in getattr(self, "written", "").splitlines():
            name, _, value = line.partition("=")
            report.outputs[name] = value


class Agent:
    def __init__(self):
        self.folder = Path(os.environ.get("MILLRACE_DATA_DIR", "millrace-agent-data")).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.folder / "work", ignore_errors=True)  # Workspaces of an earlier start.
        channel = grpc.insecure_channel(os.environ.get("MILLRACE_GATEWAY", "127.0.0.1:9090"), options=[
            ("grpc.keepalive_time_ms", 20_000), ("grpc.keepalive_timeout_ms", 5_000),
            ("grpc.min_reconnect_backoff_ms", 200), ("grpc.max_reconnect_backoff_ms", 2_000),
            ("grpc.initial_reconnect_backoff_ms", 200), ("grpc.max_receive_message_length", 16 << 20)])
        self.stub, self.gateway = agent_pb2_grpc.AgentStub(channel), gateway_pb2_grpc.GatewayStub(channel)
        self.lock = threading.RLock()
        self.journal, self.shipper = Journal(self.folder / "journal"), Shipper(self)
        self.boot_id, self.sequence, self.identity_file = str(uuid.uuid4()), 0, self.folder / "identity"
        self.steps, self.jobs, self.released, self.revoked_early = {}, set(), set(), {}
        self.contact, self.outbox, self.draining, self.ending = float("-inf"), None, False, False
        self.early = threading.Event()

    def workspace(self, job_id):
        return self.folder / "work" / job_id

    def metadata(self):
        return (("authorization", "Bearer " + json.loads(self.identity_file.read_text())["token"]),)

    def register(self):
        token = os.environ.get("MILLRACE_REGISTRATION_TOKEN")
        if not token:
            sys.exit("this agent is not registered, and there is no MILLRACE_REGISTRATION_TOKEN")
        request = pb.RegisterRequest(name=os.environ.get("MILLRACE_AGENT_NAME", "python"), slots=1, version="python")
        answer = self.stub.Register(request, metadata=(("authorization", f"Bearer {token}"),), timeout=10)
        draft = self.identity_file.with_suffix(".new")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps({"token": answer.agent_token}))
        draft.rename(self.identity_file)

    def run(self):
        for target in (self.shipper.run, self.watch_leases, self.report_again):
            threading.Thread(target=target, daemon=True).start()
        wait_s = 0.2
        while not self.ending:
            try:
                if not self.identity_file.exists():
                    self.register()
                began = time.monotonic()
                self.pull() if PULL else self.connect()
            except grpc.RpcError as error:
                print(f"{error.code().name}: {error.details()}", file=sys.stderr, flush=True)
                if error.code() in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
                    if not self.identity_file.exists():
                        sys.exit("the registration token is refused")
                    self.identity_file.unlink()
                wait_s = 0.2 if time.monotonic() - began > 5 else min(5, wait_s * 2)
            time.sleep(wait_s * random.uniform(0.5, 1))

    def connect(self):
        """Serves one Connect stream, from the hello to the end of the stream."""
        outbox, sent, hello_at = queue.Queue(), {}, time.monotonic()
        hello = pb.Hello(boot_id=self.boot_id, slots=1, version="python", **self.holdings())
        outbox.put(pb.ConnectRequest(hello=hello))
        try:
            for response in self.stub.Connect(iter(outbox.get, None), metadata=self.metadata()):
                kind = response.WhichOneof("message")
                if kind == "welcome":
                    self.contact = max(self.contact, hello_at)
                    with self.lock:
                        self.outbox = outbox
                        if self.draining:
                            self.send(drain=pb.Drain())
                        self.report_ends()
                    interval_s = response.welcome.heartbeat_interval_ms / 1000
                    threading.Thread(target=self.beat, args=(outbox, sent, interval_s), daemon=True).start()
                elif kind == "heartbeat_ack":
                    self.contact = max(self.contact, sent.pop(response.heartbeat_ack.sequence, float("-inf")))
                elif kind is not None:
                    self.handle(kind, response)
        finally:
            with self.lock:
                self.outbox = None
            outbox.put(None)

    def handle(self, kind, response):
        """Carries out one instruction of the gateway by the method `on_<kind>`."""
        with self.lock:
            getattr(self, "on_" + kind)(getattr(response, kind))

    def pull(self):
        """Sends heartbeats by calls, and carries out the instructions in their answers."""
        if self.outbox is None:
            self.outbox = queue.Queue()
            for target in (self.fetch, self.report_by_calls):
                threading.Thread(target=target, daemon=True).start()
        while not self.ending:
            self.sequence, sent = self.sequence + 1, time.monotonic()
            beat = pb.HeartbeatRequest(boot_id=self.boot_id, sequence=self.sequence, **self.holdings())
            answer = self.stub.Heartbeat(beat, metadata=self.metadata(), timeout=10)
            self.contact = max(self.contact, sent)
            for response in answer.missed:
                self.handle(response.WhichOneof("message"), response)
            self.early.wait(answer.heartbeat_interval_ms / 1000)
            self.early.clear()

    def fetch(self):
        request_id = None
        while True:
            request_id = request_id or str(uuid.uuid4())
            free_slots = 0 if self.draining or self.jobs else 1
            request = pb.FetchStepRunRequest(boot_id=self.boot_id, request_id=request_id, free_slots=free_slots, wait_ms=2_000)
            try:
                answer = self.stub.FetchStepRun(request, metadata=self.metadata(), timeout=10)
            except (grpc.RpcError, OSError):
                time.sleep(0.5)
                continue  # The same request id is sent again, since the gateway may have granted the request.
            request_id = None
            with self.lock:
                for dispatch in answer.dispatches:
                    self.on_dispatch(dispatch)
            time.sleep(0.1)

    def report_by_calls(self):
        while True:
            message = self.outbox.get()
            if not message.HasField("report"):
                continue
            report = message.report
            try:
                request = pb.ReportStepRunStatusRequest(report=report)
                answer = self.stub.ReportStepRunStatus(request, metadata=self.metadata(), timeout=15)
            except (grpc.RpcError, OSError):
                continue  # Ends are reported again.
            with self.lock:
                if answer.verdict == pb.REPORT_VERDICT_REFUSED:
                    self.on_refuse(report)
                elif report.phase != pb.STEP_PHASE_STARTED:
                    self.on_acknowledge(report)
            self.early.set()  # The next heartbeat is sent at once, since its answer may release the job.

    def beat(self, outbox, sent, interval_s):
        while self.outbox is outbox:
            time.sleep(interval_s)
            with self.lock:
                self.sequence += 1
                sent[self.sequence] = time.monotonic()
                beat = pb.HeartbeatRequest(boot_id=self.boot_id, sequence=self.sequence, **self.holdings())
            outbox.put(pb.ConnectRequest(heartbeat=beat))

    def holdings(self):
        with self.lock:
            held = [entry["held"] for entry in self.journal.unsettled()]
            return {"held": held, "held_job_ids": list(self.jobs)}

    def send(self, **message):
        """Sends a message if the agent is connected. A report that is lost is sent again later."""
        with self.lock:
            if self.outbox is not None:
                self.outbox.put(pb.ConnectRequest(**message))

    def on_dispatch(self, dispatch):
        key = (dispatch.step_run_id, dispatch.token)
        entry = self.journal.entries.get(key)
        if entry is not None:  # The dispatch was repeated. A step run never starts twice.
            if entry["report"] is not None:
                self.send(report=entry["report"])
            return
        if time.monotonic() > self.contact + dispatch.lease_ms / 1000:
            return  # The control plane may have given the step to another agent.
        self.journal.begin(dispatch)
        if key in self.revoked_early:
            return self.finish(lost(dispatch, self.revoked_early.pop(key), pb.STEP_PHASE_CANCELLED))
        if dispatch.job_id in self.released or (self.draining and dispatch.job_id not in self.jobs):
            return self.finish(lost(dispatch, "the agent begins no more of this job"))
        self.jobs.add(dispatch.job_id)
        self.steps[key] = Step(self, dispatch)

    def on_revoke(self, revoke):
        key = (revoke.step_run_id, revoke.token)
        if key in self.steps:
            self.steps[key].end(pb.STEP_PHASE_CANCELLED, revoke.reason, revoke.grace_ms / 1000)
        elif key not in self.journal.entries:
            self.revoked_early[key] = revoke.reason

    def on_release(self, release):
        threading.Thread(target=self.release, args=(release.job_id,), daemon=True).start()

    def release(self, job_id):
        with self.lock:
            self.released.add(job_id)
            steps = [step for step in self.steps.values() if step.dispatch.job_id == job_id]
        for step in steps:
            step.silent = True
            step.end(pb.STEP_PHASE_LOST, "the job is over", 0)
        for step in steps:
            step.ended.wait()
        shutil.rmtree(self.workspace(job_id), ignore_errors=True)
        with self.lock:
            for entry in self.journal.unsettled():
                if entry["held"].job_id == job_id:
                    self.journal.settle(entry)
            self.jobs.discard(job_id)

    def on_acknowledge(self, acknowledge):
        self.journal.settle(self.journal.entries.get((acknowledge.step_run_id, acknowledge.token)))

    def on_refuse(self, refuse):
        key = (refuse.step_run_id, refuse.token)
        self.shipper.forget(*key)
        if key in self.steps:
            self.steps[key].silent = True
            self.steps[key].end(pb.STEP_PHASE_LOST, "the control plane has given the step up", 0)
        else:
            self.journal.settle(self.journal.entries.get(key))

    def report_start(self, held, started_at_ms):
        report = lost(held, "", pb.STEP_PHASE_STARTED)
        report.started_at_ms = report.ended_at_ms = started_at_ms
        self.send(report=report)

    def step_ended(self, step, report):
        with self.lock:
            del self.steps[(report.step_run_id, report.token)]
            self.finish(report, step.silent)

    def finish(self, report, silent=False):
        self.journal.end(report)
        if silent:
            self.journal.settle(self.journal.entries[(report.step_run_id, report.token)])
        else:
            self.send(report=report)

    def report_ends(self):
        with self.lock:
            for entry in self.journal.unsettled():
                if entry["report"] is not None:
                    self.send(report=entry["report"])

    def report_again(self):
        while True:
            time.sleep(REPORT_AGAIN_S)
            self.report_ends()

    def watch_leases(self):
        """Kills steps whose lease has run out. A lease counts from the sending of the last acknowledged heartbeat."""
        while True:
            time.sleep(0.1)
            with self.lock:
                for step in list(self.steps.values()):
                    if time.monotonic() > self.contact + step.dispatch.lease_ms / 1000:
                        step.end(pb.STEP_PHASE_LOST, "the lease has run out", 0)

    def stop(self):
        """Takes no more jobs, waits for the running ones, and ends the agent."""
        with self.lock:
            self.draining = True
            self.send(drain=pb.Drain())
        wait_until(lambda: not self.jobs, DRAIN_S)
        for step in list(self.steps.values()):
            step.end(pb.STEP_PHASE_LOST, "the agent was stopped", 0)
            step.ended.wait()
        wait_until(lambda: not self.journal.unsettled() and not self.shipper.logs, LAST_REPORTS_S)
        self.ending = True
        os._exit(0)


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


def now_ms():
    return int(time.time() * 1000)


if __name__ == "__main__":
    this = Agent()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: threading.Thread(target=this.stop).start())
    this.run()
