# Absent is not zero: what nobody said is neither written nor shown.
model m.safetensors
sherd checkpoint save -q m.safetensors bare
grep -cE '"(epoch|step|learningRate|optimizerType|optimizerState|strategy|precision|strategySpecificInfo|ddpRank|training)"' bare.metadata.json
sherd info bare | grep -cE '^(training|sharding)'
sherd info --json bare | field '[d["sharding"], d["training"], "ddpRank" in d]'
sherd checkpoint list . | tr -s ' ' | cut -d' ' -f1,2,4
sherd checkpoint list --json . | field '["step" in c for c in d["checkpoints"]]'
# Zeros that were said are.
sherd checkpoint save -q m.safetensors zero --step 0 --epoch 0 --learning-rate 0 --ddp-rank 0
sherd info zero | grep -E '^(training|sharding)'
sherd checkpoint list . | grep zero | tr -s ' ' | cut -d' ' -f4
# Everything that the format knows can be said; a source that is a checkpoint brings it along.
sherd checkpoint save -q m.safetensors full --strategy tensor_parallel --strategy-info '{"degree": 2}' --precision bf16 \
	--ddp-rank 3 --optimizer adamw --optimizer-state '{"beta1": 0.9}' --step 5
sherd info full | grep -E '^(training|sharding)'
sherd checkpoint save -q full again --step 6
sherd info --json again | field '[d["sharding"], d["training"], d["ddpRank"]]'
sherd verify bare zero full again
sherd checkpoint save m.safetensors bad --optimizer-state 7
echo $?
sherd checkpoint save m.safetensors bad --ddp-rank x
echo $?
