# shellcheck shell=bash
# A Slurm of one node, for a proof: its own munge, controller and node daemon, on free ports of this machine, all files in
# one directory; no systemd, no cgroups, no accounting. Sourced; needs bash's 'set -euo pipefail' and 'say'.
#
#   slurm_missing               names the programs that are not installed
#   slurm_start DIR CPUS        as root or as any user; sets SLURM_CONF, so that sbatch, scontrol and so on find it
#   slurm_stop                  ends all jobs and daemons of it; harmless when nothing runs

PATH+=:/usr/sbin:/sbin  # the daemons are there, which few users have in theirs
slurm_directory='' slurm_pids=()

slurm_missing() {
  local program
  for program in munged mungekey slurmctld slurmd sbatch scontrol squeue scancel; do
    command -v "$program" >/dev/null || printf '%s ' "$program"
  done
}

# A port that nobody listens on, from $1 on.
slurm_free_port() {
  local port=$1
  while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
  printf '%s' "$port"
}

# KillWait is how long a task has between TERM and KILL. A requeued task may start again after cred_expire seconds.
# config_overrides: so many tasks run at once as it is told, whatever the machine has.
slurm_write_conf() {
  local dir=$1 cpus=$2 controller_port node_port user host
  controller_port=$(slurm_free_port $((20000 + RANDOM % 5000)))
  node_port=$(slurm_free_port $((26000 + RANDOM % 5000)))
  user=$(id -un)
  host=$(hostname -s)
  cat >"$dir/slurm.conf" <<END
ClusterName=proof
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller_port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$dir/munge/socket,cred_expire=5
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
JobRequeue=1
KillWait=5
MinJobAge=86400
ReturnToService=2
NodeName=node NodeHostname=$host NodeAddr=127.0.0.1 Port=$node_port CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP
END
}

# Runs a daemon of it in the foreground of its own, so that its process is known.
slurm_daemon() {
  "$@" >>"$slurm_directory/daemons.log" 2>&1 </dev/null &
  slurm_pids+=("$!")
}

# Waits at most $1 seconds until a command succeeds.
slurm_wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.2
  done
}

slurm_node_is_up() { [[ $(timeout 10 scontrol show node node) =~ State=(IDLE|MIXED|ALLOCATED)[[:space:]] ]]; }

slurm_start() {
  slurm_directory=$1
  local dir=$1
  mkdir -p "$dir/state" "$dir/spool" "$dir/munge"
  chmod 711 "$dir" "$dir/munge"
  slurm_write_conf "$dir" "$2"
  export SLURM_CONF=$dir/slurm.conf
  mungekey --create --keyfile="$dir/munge/key"
  # --force: it would else refuse a directory of another user above its own, such as a container's
  slurm_daemon munged --foreground --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" \
    --pid-file="$dir/munge/pid" --seed-file="$dir/munge/seed"
  slurm_wait_for 20 test -S "$dir/munge/socket" || { slurm_complain munged; return 1; }
  slurm_daemon slurmctld -D -f "$SLURM_CONF"
  slurm_wait_for 30 timeout 10 scontrol ping || { slurm_complain slurmctld; return 1; }
  slurm_daemon slurmd -D -N node -f "$SLURM_CONF"
  slurm_wait_for 30 slurm_node_is_up || { slurm_complain slurmd; return 1; }
}

slurm_complain() {
  say "$1 does not come up:"
  tail -n 20 "$slurm_directory"/*.log >&2
}

slurm_idle() { [[ -z $(timeout 10 squeue -h) ]]; }

# Processes of this Slurm that are still there: slurmstepd names no directory, but holds the log; a batch script holds none.
slurm_leftovers() {
  {
    find /proc/[0-9]*/fd -lname "$slurm_directory/*" 2>/dev/null | cut -d/ -f3
    pgrep -f -- "$slurm_directory/"
  } | sort -u
}

slurm_stop() {
  [[ $slurm_directory ]] || return 0
  local pid i
  if ((${#slurm_pids[@]} == 3)) && slurm_wait_for 5 timeout 5 scontrol ping; then
    timeout 10 scancel --user="$(id -un)" 2>/dev/null || true
    slurm_wait_for 20 slurm_idle || true
  fi
  for ((i = ${#slurm_pids[@]} - 1; i >= 0; --i)); do
    pid=${slurm_pids[i]}
    kill -TERM "$pid" 2>/dev/null || continue
    slurm_wait_for 10 slurm_is_gone "$pid" || kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  for pid in $(slurm_leftovers || true); do kill -KILL "$pid" 2>/dev/null || true; done
  slurm_pids=() slurm_directory=''
}

slurm_is_gone() { [[ ! -d /proc/$1 || $(cut -d' ' -f3 "/proc/$1/stat") == Z ]]; }
