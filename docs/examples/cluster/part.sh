#!/bin/bash
#SBATCH --array=1-8 --cpus-per-task=2 --time=02:00:00 --no-requeue --signal=B:INT@60
exec harness evals shop --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --report "json:parts/$SLURM_ARRAY_JOB_ID/$SLURM_ARRAY_TASK_ID.json"
