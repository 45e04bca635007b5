/**
 * The mark by which the processes of a step are recognized in any process group, and the shell functions that kill the
 * processes of steps.
 */

/**
 * Environment variable that every process of a step has. Its value is the mark of the lease followed by the step's own.
 */
export const MARK = "MILLRACE_STEP_MARK";

/**
 * Shell text that defines the function `kill_marked PREFIX`. It kills every process whose mark begins with PREFIX,
 * together with its process group. The calling shell must carry such a mark itself; the function spares that shell, and
 * kills single processes only in that shell's group. It repeats until it finds no more processes, since processes fork.
 * It has no effect without /proc.
 *
 * The function tests whether grep finds the calling shell. BusyBox's grep does not: it reads a file only up to the
 * first zero byte. For that test to work, the mark must not be the first variable of the shell's environment. If the
 * test fails, the shell reads the environments itself, which is slower.
 */
export const KILL_MARKED = `
kill_marked() {
  mark="${MARK}=$1"
  if [ ! -r /proc/self/environ ] || ! read -r self stat </proc/self/stat; then return; fi
  unset ${MARK}
  set -- \${stat##*) }
  own_group=$3
  rounds=0
  killed=yes
  while [ -n "$killed" ] && [ "$rounds" -lt 20 ]; do
    rounds=$((rounds + 1))
    killed=
    files=$(grep -lsF -e "$mark" /proc/[0-9]*/environ)
    case $files in
      */$self/*) ;;
      *)
        files=
        for file in /proc/[0-9]*/environ; do
          while read -r line || [ -n "$line" ]; do
            case $line in *"$mark"*) files="$files $file" ;; esac
          done <"$file"
        done ;;
    esac
    for file in $files; do
      pid=\${file#/proc/}
      pid=\${pid%/environ}
      [ "$pid" != "$self" ] && read -r stat <"/proc/$pid/stat" || continue
      set -- \${stat##*) }
      if [ "$3" != "$own_group" ] && [ "$3" -gt 1 ]; then kill -KILL "-$3"; fi
      if kill -KILL "$pid"; then killed=yes; fi
    done
  done
}
`;

/**
 * Shell text that defines the function `kill_cgroups PREFIX`. It kills all processes in the cgroups whose paths begin
 * with PREFIX, and removes these cgroups. No effect for an empty PREFIX. See cgroups.ts for the two versions of cgroups.
 */
export const KILL_CGROUPS = `
kill_cgroups() {
  [ -n "$1" ] || return
  for folder in "$1"*; do
    rounds=0
    while [ -d "$folder" ] && [ "$rounds" -lt 50 ]; do
      rounds=$((rounds + 1))
      if [ -e "$folder/cgroup.kill" ]; then
        echo 1 >"$folder/cgroup.kill"
      else
        [ ! -e "$folder/freezer.state" ] || echo FROZEN >"$folder/freezer.state"
        [ ! -e "$folder/pids.max" ] || echo 0 >"$folder/pids.max"
        find "$folder" -name cgroup.procs -exec cat {} + | while read -r pid; do kill -KILL "$pid"; done
        find "$folder" -name freezer.state | while read -r file; do echo THAWED >"$file"; done
      fi
      find "$folder" -depth -type d -exec rmdir {} +
    done
  done
}
`;

/** Kills every process with a mark that begins with $1, and the cgroups whose paths begin with $2. */
export const KILL_ALL = `${KILL_MARKED}\n${KILL_CGROUPS}\nkill_cgroups "$2"\nkill_marked "$1"`;
