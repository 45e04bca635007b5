/**
 * The program of a starter: it forks the processes of steps and waits for them. It is written in Perl, whose process
 * is small, so that a fork costs a fraction of what it costs Node.
 */

type SystemCalls = readonly [setsid: number, close: number, execve: number, openat: number, dup3: number];

/** Those of arm64 and of all later processors. */
const COMMON_CALLS: SystemCalls = [157, 57, 221, 56, 24];

/**
 * Numbers of system calls by the name that Node gives the processor. The script needs integers of 64 bits. The numbers of
 * clone3 (435) and pidfd_open (434) are the same everywhere.
 */
const SYSTEM_CALLS: Readonly<Record<string, SystemCalls>> = {
  x64: [112, 3, 59, 257, 292],
  arm64: COMMON_CALLS,
  riscv64: COMMON_CALLS,
  loong64: COMMON_CALLS,
  ppc64: [66, 6, 11, 286, 316],
  s390x: [66, 6, 11, 288, 326],
};

/**
 * How long a starter without a spare waits for something else to do before it forks one, in seconds. So the fork takes no
 * processor time from a step that begins; when a step ends earlier, the spare is forked soon after that. It is not forked at
 * once, because the system often gives the agent, which hears of the end, the processor on which the starter runs.
 */
const SPARE_AFTER_S = { begin: 0.02, end: 0.000_5 };

/** The largest request that a spare process gets: the system takes and gives it as a whole. */
export const MAX_SPARE_REQUEST_BYTES = 16_384;

/**
 * Arguments: the numbers of system calls, the script that kills what is left, and its two arguments: the prefix
 * of all marks, and that of the cgroups. Descriptor 3 is the connection with the agent. A request is its length (32 bits) and then fields that zero bytes separate: id,
 * cgroup or nothing, mark, folder, standard input, output, error, permit, number of arguments, the arguments, and the
 * variables. Ids are numbers that grow by one.
 *
 * Answers are lines, in this order: `s ID PID` when the process is forked or `f ID REASON` when it cannot be; `o ID
 * OBSTACLE` by the process itself when something is missing; `x ID STATUS CPU LEFT` when it has ended and its group was
 * killed. CPU is its time in milliseconds. LEFT is 1 when its cgroup still holds processes.
 *
 * A descriptor of each process tells its end (0x1000: CLONE_PIDFD). Where version 2 of cgroups is, the process begins in
 * its cgroup (0x200000000: CLONE_INTO_CGROUP); moving it there later takes longer. Containers may forbid clone3.
 *
 * To fork a process and to move it into a cgroup takes longer than all else before its program. So a spare process waits
 * for a step, in a cgroup of its own. `r ID PID` tells the agent of it; this id is no number. The agent writes the request
 * of its step to descriptor 4, which spare processes alone read: the starter need not run before the program begins. The
 * agent gives a spare process one step. The next one is made when the step has ended; when the step runs for long, the agent
 * asks for it by a request that is the id alone. Two must never read at a time, because one would take the request of the
 * other. So a spare process that has read its request writes its id into a pipe, into which the starter looks then: no
 * process waits for that pipe, so that writing to it wakes none. A request that was written for a spare process that had
 * ended by then is passed over by the next one. A spare ends when descriptor 4 closes. It rehearses what it will do,
 * without an id and with a program that the system refuses to start: the memory that a process touches first after a fork
 * costs a fault for each page.
 *
 * Perl makes nine system calls to open a file as standard output, so the script makes the three that are needed (-100:
 * AT_FDCWD; 0x241: O_WRONLY, O_CREAT, O_TRUNC), and a spare process has an empty standard input since its rehearsal. The program
 * is started by execve with the variables as they come, which takes less time than to set each of them. Perl ignores SIGFPE, and would restore it only before an exec of its own. A program that execve does not find at once, or does
 * not start, is left to what Perl does: it knows all rules of PATH.
 *
 * The permit is read last. Until the process becomes the program, it has the environment of the starter, so the guard
 * finds it by the mark of the lease. When the connection closes, the starter kills all that it has started; also when the
 * launcher ends, whose end of descriptor 5 closes then: an agent that is stopped could not
 * act on it. The starter ignores
 * SIGPIPE, since an agent that is gone must not end it before that. It closes the other descriptors that it got, as an agent
 * has those of the program that started the agent: inherited-descriptors.ts.
 */
const SCRIPT = `
use strict;
my ($setsid, $close, $execve, $openat, $dup3, $kill, @kill) = @ARGV;
$SIG{PIPE} = "IGNORE";
open(my $agent, "+<&=", 3) or exit 1;
open(my $requests, "<&=", 4) or exit 1;
open(my $launcher, "<&=", 5) or exit 1;
fcntl($_, 2, 1) for $agent, $requests, $launcher;
if (opendir(my $folder, "/proc/self/fd")) {
  for (readdir($folder)) { syscall($close, 0 + $_) if /^\\d+$/ && $_ > 5 }
}
pipe(my $given, my $give) or exit 1;
fcntl($_, 4, 0x800 | fcntl($_, 3, 0)) for $given, $give;
my ($can_clone, $can_enter) = (1, 1);
my ($buffer, $used, %running) = ("", 0);
my @opened = ("", "", "");
my ($spare, $is_given, $spares, $wants_spare, $spare_after) = (undef, 0, 0, 0, 0);
my $watched = "";
vec($watched, 3, 1) = 1;
vec($watched, 5, 1) = 1;
sub answer { syswrite($agent, join(" ", @_) . "\\n") }
sub missing { answer("o", @_); exit 125 }
sub clone {
  my ($folder) = @_;
  my $slot = "\\0" x 8;
  vec($slot, 0, 8) = 255;
  my $flags = 0x1000 + (defined $folder ? 0x200000000 : 0);
  my $in = defined $folder ? fileno($folder) : 0;
  my $arguments = pack("Q", $flags) . pack("p", $slot) . pack("Q9", 0, 0, 17, 0, 0, 0, 0, 0, $in);
  my $pid = syscall(435, $arguments, 88);
  return ($pid, unpack("l", $slot));
}
sub fork_into {
  my ($id, $cgroup) = @_;
  my ($pid, $end) = (-1);
  my $is_inside = $cgroup eq "";
  if (!$is_inside) {
    my ($above) = $cgroup =~ m{^(.*)/};
    mkdir($cgroup) or mkdir($above) && mkdir($cgroup) or return (undef, "its cgroup: $!");
    if ($can_clone && $can_enter && sysopen(my $folder, $cgroup, 0)) {
      ($pid, $end) = clone($folder);
      $is_inside = $pid >= 0;
      $can_enter = $is_inside;
    }
  }
  if ($pid < 0 && $can_clone) {
    ($pid, $end) = clone();
    $can_clone = $pid >= 0;
  }
  if ($pid < 0) {
    $pid = fork;
    if (!defined $pid) {
      my $reason = "$!";
      rmdir($cgroup) if $cgroup ne "";
      return (undef, $reason);
    }
    $end = $pid == 0 ? -1 : syscall(434, $pid, 0);
  }
  if ($pid == 0) {
    syscall($setsid);
    $SIG{$_} = "DEFAULT" for "PIPE", "FPE";
    if (!$is_inside) {
      open(my $file, ">", "$cgroup/cgroup.procs") or missing($id, "isolation");
      syswrite($file, "0") or missing($id, "isolation");
    }
    return 0;
  }
  if ($end < 0) { kill("KILL", $pid); exit 1 }
  my $process = [$id, $pid, $cgroup, $end];
  $running{$end} = $process;
  vec($watched, $end, 1) = 1;
  return $process;
}
sub put {
  my ($to, $path, $flags) = @_;
  return 1 if $path eq $opened[$to];
  my $from = syscall($openat, -100, $path, $flags, 0666);
  return 0 if $from < 0 || syscall($dup3, $from, $to, 0) < 0;
  syscall($close, $from);
  $opened[$to] = $path;
  return 1;
}
sub become {
  my ($id, $cgroup, $mark, $cwd, $in, $out, $err, $permit, $count, @rest) = @_;
  chdir($cwd) or missing($id, "folder");
  put(0, $in, 0) && put(1, $out, 0x241) && put(2, $err, 0x241) or missing($id, "isolation");
  my @command = splice(@rest, 0, $count);
  my ($arguments, $variables) = (pack("p*", @command, undef), pack("p*", @rest, undef));
  my ($path) = map { /^PATH=(.*)/s ? $1 : () } @rest;
  my @places = $command[0] =~ m{/} ? ("") : map { $_ eq "" ? "./" : "$_/" } split(/:/, $path // "");
  -e $permit or missing($id, "permit");
  for (@places) {
    my $program = $_ . $command[0];
    syscall($execve, $program, $arguments, $variables);
    last if $! != 2;
  }
  return if $id eq "";
  %ENV = ();
  for (@rest) { my ($name, $value) = split(/=/, $_, 2); $ENV{$name} = $value }
  exec { $command[0] } @command;
  my $code = $! == 2 ? 127 : 126;
  my $reason = "$!";
  syswrite(STDERR, "millrace: cannot run $command[0]: $reason\\n");
  exit $code;
}
sub fields { split(/\\0/, $_[0], -1) }
sub rehearse {
  my @places = ("/", ("/dev/null") x 4);
  become(fields(join("\\0", "", "", "", @places, 1, "null", "PATH=/dev/none:/dev", ("A_VARIABLE=" . "x" x 50) x 25)));
}
sub make_spare {
  $wants_spare = 0;
  my $id = "s" . ++$spares;
  my ($process) = fork_into($id, ($kill[1] // "") eq "" ? "" : "$kill[1]$id;");
  return if !defined $process;
  if ($process) {
    ($spare, $is_given) = ($process, 0);
    return answer("r", $id, $process->[1]);
  }
  rehearse();
  my $text = "";
  while (1) {
    until (length($text) >= 4 && length($text) >= 4 + unpack("N", $text)) {
      sysread($requests, $text, 65536, length($text)) or exit;
    }
    my @fields = fields(substr($text, 4, unpack("N", $text)));
    substr($text, 0, 4 + unpack("N", $text)) = "";
    next if $fields[0] ne $id;
    syswrite($give, "$id ");
    become(@fields);
  }
}
sub has_step {
  my ($id) = @_;
  sysread($given, my $ids, 65536);
  return ($ids // "") =~ /\\b$id /;
}
sub begin {
  my ($request) = @_;
  my ($id, $cgroup) = split(/\\0/, $request, 3);
  $wants_spare = 1;
  if (!defined $cgroup) {
    $is_given = 1 if defined $spare && $spare->[0] eq $id;
    $spare_after = ${SPARE_AFTER_S.end};
    return;
  }
  $spare_after = ${SPARE_AFTER_S.begin};
  my ($process, $reason) = fork_into($id, $cgroup);
  return answer("f", $id, $reason) if !defined $process;
  become(fields($request)) if !$process;
  answer("s", $id, $process->[1]);
}
sub ended {
  my ($end) = @_;
  my $process = delete $running{$end};
  my ($id, $pid, $cgroup) = @$process;
  vec($watched, $end, 1) = 0;
  syscall($close, $end);
  waitpid($pid, 0);
  my $status = $?;
  my @times = times;
  my $before = $used;
  $used = $times[2] + $times[3];
  kill("KILL", -$pid);
  my $left = $cgroup eq "" || rmdir($cgroup) ? 0 : 1;
  answer("x", $id, $status, int(($used - $before) * 1000 + 0.5), $left);
  if (defined $spare && $spare == $process) {
    $spare = undef;
    $wants_spare = 1 if has_step($id);
  }
}
answer("ready");
while (1) {
  my $size = length($buffer) < 4 ? 1 << 40 : 4 + unpack("N", $buffer);
  my $has_request = length($buffer) >= $size;
  my $may_lack_spare = $wants_spare && (!defined $spare || $is_given);
  my $ready = $watched;
  my $count = select($ready, undef, undef, $has_request ? 0 : $may_lack_spare ? $spare_after : undef);
  if ($count > 0) {
    for (keys %running) { if (vec($ready, $_, 1)) { ended($_); $spare_after = ${SPARE_AFTER_S.end} } }
    last if vec($ready, 5, 1);
    if (vec($ready, 3, 1)) {
      sysread($agent, $buffer, 65536, length($buffer)) or last;
    }
  }
  if ($has_request) {
    my $request = substr($buffer, 4, $size - 4);
    substr($buffer, 0, $size) = "";
    begin($request);
  } elsif ($may_lack_spare && $buffer eq "" && $count == 0) {
    $spare = undef if defined $spare && has_step($spare->[0]);
    if (defined $spare) { $spare_after = ${SPARE_AFTER_S.begin} }
    else { make_spare() }
  }
}
kill("KILL", map { ($_->[1], -$_->[1]) } values %running);
exec("/bin/sh", "-c", $kill, "millrace-kill", @kill);
`;

/** The command line of a starter; undefined on a processor whose system calls are not known. */
export function starterCommand(
  killScript: string,
  killArguments: readonly string[],
): [string, ...string[]] | undefined {
  const calls = process.platform === "linux" ? SYSTEM_CALLS[process.arch] : undefined;
  if (calls === undefined) return undefined;
  return ["perl", "-e", SCRIPT, ...calls.map(String), killScript, ...killArguments];
}
