#!/bin/sh
# A rank for each GPU of this machine, through PyTorch's launcher; run it on every machine of the job.
#
#   ./torchrun.sh --config center --device cuda                       one machine
#   NODES=2 HEAD=10.0.0.1 ./torchrun.sh --config center --device cuda two: the same command on both
#
# GPUS is the number of ranks of a machine. torchrun restarts all ranks after a failure, RESTARTS times.
# The torch of this torchrun must be the one that the addon was built with (`npm run setup:torch` takes the
# one of the python3 on the PATH). Debian 12's own torchrun 1.13 fails by itself under its Python 3.11.
set -eu
gpus="${GPUS:-$(nvidia-smi -L 2>/dev/null | wc -l)}"
exec torchrun \
  --nnodes "${NODES:-1}" \
  --nproc_per_node "$([ "$gpus" -gt 0 ] && echo "$gpus" || echo 1)" \
  --rdzv_backend c10d \
  --rdzv_endpoint "${HEAD:-localhost}:${PORT:-29400}" \
  --rdzv_id "${JOB:-crab}" \
  --max_restarts "${RESTARTS:-3}" \
  --no_python \
  npx --no-install crab train --continue --out "${OUT:-runs/cluster}" "$@"
