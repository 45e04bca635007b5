/** How the processes of a step are known, wherever they went, and the shell text that ends them. */

/** Environment variable that every process of a step has from its start: the mark of the lease, then the step's own. */
export const MARK = "MILLRACE_STEP_MARK";

/**
 * Defines `sweep MARK`, for a shell that carries a mark itself which begins so. Kills every process whose mark begins so,
 * with its group unless that is the shell's own; again until there is nothing left, since processes fork. Does nothing
 * without /proc. A grep that does not find the shell itself (BusyBox's reads no further than the first zero byte, so the
 * mark must not be the first of its variables) is of no use; then the shell reads the environments itself, which is slower.
 */
export const SWEEP = `
sweep() {
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
