/**
 * Programs that become the parent of a step's supervisor, where cgroups are not available. They end as the supervisor
 * ends, with the same exit code or by the same signal. Node itself can neither make a namespace nor call prctl.
 */

/** The number of the system call prctl, by the name that Node gives the processor. */
const PRCTL: Readonly<Record<string, number>> = {
  x64: 157,
  arm64: 167,
  riscv64: 167,
  loong64: 167,
  arm: 172,
  ia32: 172,
  ppc64: 171,
  s390x: 172,
};

/**
 * The parent outside of the namespace starts the first process inside, then the supervisor as the second one. Linux
 * ignores most signals that reach the first process of a namespace, so the supervisor cannot be that process. The first
 * process collects orphans that have ended. When the lifeline (descriptor 3) closes, the first process ends, and the
 * kernel kills the rest of the namespace. `nsenter` ends as its child does; `unshare --fork` does not for SIGKILL.
 */
const NAMESPACE_PARENT = `
( cat <&3 >/dev/null & wait $! ) &
exec nsenter --pid=/proc/self/ns/pid_for_children setsid "$@"
`;

/**
 * The supervisor sees the processes of its namespace alone. Only the mount of /proc is private: other mounts are shared
 * with the machine as before.
 */
const NAMESPACE_PRELUDE = `
{ mount --make-private /proc && mount -t proc -o nosuid,nodev,noexec proc /proc; } </dev/null || exit
`;

export const IN_A_PID_NAMESPACE = {
  command: [
    "unshare",
    "--pid",
    "--mount",
    "--propagation",
    "unchanged",
    "/bin/sh",
    "-c",
    NAMESPACE_PARENT,
    "millrace-parent",
  ],
  prelude: NAMESPACE_PRELUDE,
} as const;

/**
 * 36: PR_SET_CHILD_SUBREAPER, 4: PR_SET_DUMPABLE, so that the parent leaves no core file when it repeats the signal of
 * its child. The parent closes the lifeline, since only the watcher holds it. It gives up after ten seconds: a process
 * may be unable to die (hung disk).
 */
const PERL = `
my $prctl = shift;
exit 1 if syscall($prctl, 36, 1, 0, 0, 0) != 0;
my $step = fork;
exit 1 if !defined $step;
if ($step == 0) { exec { $ARGV[0] } @ARGV; exit 127; }
my @ignored = qw(HUP INT QUIT TERM PIPE ALRM USR1 USR2);
$SIG{$_} = "IGNORE" for @ignored;
for my $fd (0, 3) { open(my $file, "<&=", $fd) and close $file; }
my $ended;
do { $ended = waitpid(-1, 0) } until $ended == $step;
my $status = $?;
my $end = time + 10;
while (time < $end) {
  my $pid;
  1 while ($pid = waitpid(-1, 1)) > 0;
  last if $pid < 0;
  open(my $file, "<", "/proc/$$/task/$$/children") or last;
  kill 9, split(" ", <$file> // "");
  select undef, undef, undef, 0.001;
}
exit($status >> 8) if ($status & 127) == 0;
syscall($prctl, 4, 0, 0, 0, 0);
$SIG{$_} = "DEFAULT" for @ignored;
kill $status & 127, $$;
sleep 1;
exit 1;
`;

/** As {@link PERL}. Python ignores two signals, which a child must not inherit. */
const PYTHON = `
import ctypes, os, signal, sys, time
prctl = ctypes.CDLL(None).prctl
if prctl(36, 1, 0, 0, 0) != 0: sys.exit(1)
step = os.fork()
if step == 0:
    for number in (signal.SIGPIPE, signal.SIGXFSZ): signal.signal(number, signal.SIG_DFL)
    try: os.execvp(sys.argv[2], sys.argv[2:])
    finally: os._exit(127)
ignored = [getattr(signal, "SIG" + name) for name in "HUP INT QUIT TERM PIPE ALRM USR1 USR2".split()]
for number in ignored: signal.signal(number, signal.SIG_IGN)
for fd in (0, 3): os.close(fd)
pid = 0
while pid != step: pid, status = os.waitpid(-1, 0)
end = time.monotonic() + 10
while time.monotonic() < end:
    try:
        while os.waitpid(-1, os.WNOHANG)[0] > 0: pass
    except ChildProcessError: break
    with open("/proc/%d/task/%d/children" % (os.getpid(), os.getpid())) as file: pids = file.read().split()
    for child in pids: os.kill(int(child), signal.SIGKILL)
    time.sleep(0.001)
if not os.WIFSIGNALED(status): os._exit(os.WEXITSTATUS(status))
prctl(4, 0, 0, 0, 0)
for number in ignored: signal.signal(number, signal.SIG_DFL)
os.kill(os.getpid(), os.WTERMSIG(status))
time.sleep(1)
os._exit(1)
`;

const NUMBER = String(PRCTL[process.arch] ?? 0);

/** The program and the first arguments of a parent; the command line of its child follows. */
export const OF_A_SUBREAPER = {
  perl: ["perl", "-e", PERL, NUMBER],
  python3: ["python3", "-S", "-E", "-c", PYTHON, NUMBER],
} as const;
