#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=1 --cpus-per-task=16 --time=02:00:00 --no-requeue --signal=B:INT@60
set -eu
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n') # else anybody could run code here
host=$(srun --nodes=1 --ntasks=1 --relative=1 getent ahostsv4 "$SLURMD_NODENAME" | awk 'NR == 1 { print $1 }')
export host RAY_ADDRESS=$host:$((20000 + SLURM_JOB_ID % 10000)) folder=/tmp/ray-$SLURM_JOB_ID

node() { # Ray on one node until the job ends: the first node is the head, and the others wait for it
  trap "trap '' TERM" TERM
  if [ "$SLURM_PROCID" = 0 ]; then
    set -- --head --node-ip-address="$host" --port="${RAY_ADDRESS#*:}" --include-dashboard=false
  else
    set -- --address="$RAY_ADDRESS"
  fi
  ray start "$@" --num-cpus="$SLURM_CPUS_PER_TASK" --temp-dir="$folder" --disable-usage-stats --block &
  wait
  while [ -e "$folder" ]; do # Ray's processes end one after the other
    rm -rf "$folder"
    sleep 1
  done
}
export -f node
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" bash -c node &
timeout --signal=KILL 300 python -c "
import ray, time
ray.init('auto', log_to_driver=False)
while len(ray.nodes()) < $SLURM_JOB_NUM_NODES: time.sleep(1)"
exec harness evals "$@" --engine ray:auto -c 64
