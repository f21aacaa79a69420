# --rank auto: rank and world by the variables of a launcher, the innermost first, and only when it is asked for; the set
# id by the job.
python3 - <<'P'
import json, struct
head = json.dumps({n: {"dtype": "U8", "shape": [4], "data_offsets": [i * 4, i * 4 + 4]} for i, n in enumerate("abcd")}).encode()
open("m.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + bytes(range(16)))
P
slurm() { SLURM_JOB_ID=7 SLURM_PROCID=$1 SLURM_NTASKS=2 sherd checkpoint save m.safetensors "$2" --rank auto --split "${@:3}"; }
slurm 0 s && slurm 1 s
slurm 0 s --step 1; echo "exit $?"
echo "torchrun inside of SLURM"
torch() { RANK=$1 WORLD_SIZE=4 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=none slurm 0 t; }
for rank in 0 1 2 3; do torch "$rank"; done
echo "load"
RANK=1 WORLD_SIZE=2 sherd checkpoint load t -o 'part%r.safetensors' --rank auto && ls part*
RANK=1 WORLD_SIZE=2 sherd checkpoint load t -o part.safetensors --rank auto; echo "exit $?"
echo "never unasked"
RANK=1 WORLD_SIZE=2 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 sherd checkpoint save m.safetensors alone | sed 's/set .*/set ID/'
echo "mistakes"
sherd checkpoint save m.safetensors z --rank auto; echo "exit $?"
RANK=4 WORLD_SIZE=4 sherd checkpoint save m.safetensors z --rank auto; echo "exit $?"
RANK=x WORLD_SIZE=4 sherd checkpoint save m.safetensors z --rank auto; echo "exit $?"
RANK=1 WORLD_SIZE=4 sherd checkpoint save m.safetensors z --rank auto --world 3; echo "exit $?"
RANK=1 WORLD_SIZE=4 sherd checkpoint save m.safetensors z --rank auto; echo "exit $?"
