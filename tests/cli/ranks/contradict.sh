# What keeps a set from being committed is told by everybody who is asked: the rank, commit, wait and verify.
tensors a.safetensors w:F32:4
tensors b.safetensors w:F32:4=1,2,3,9
id=00000000000000000000000000000001
sherd checkpoint save -q a.safetensors k/a --rank 0 --world 2 --set-id $id
sherd checkpoint remove k/a 2>&1 | sed 's/one [0-9]* s ago/one now/'; echo "remove: ${PIPESTATUS[0]}"
sherd checkpoint verify -q k/a; echo "verify: $?"
sherd checkpoint save -q b.safetensors k/a --rank 1 --world 2 --set-id $id; echo "rank 1: $?"
sherd checkpoint commit k/a; echo "commit: $?"
sherd checkpoint wait k/a; echo "wait: $?"
sherd checkpoint verify -q k/a; echo "verify: $?"
sherd checkpoint save -q a.safetensors k/a --rank 0 --world 2 --set-id ${id%1}2 --take-over
sherd checkpoint save -q a.safetensors k/a --rank 1 --world 2 --set-id ${id%1}2; echo "again: $?"
sherd checkpoint wait -q k/a --timeout 0; echo "wait: $?"
# a committed set with a hole is not what was waited for
rm k/a_shard_1.*
sherd checkpoint wait k/a; echo "wait: $?"
# all have saved, and only the commit is missing
sherd checkpoint save -q a.safetensors k/b --rank 0 --world 2 --set-id $id
cp k/b_shard_0.shard k/b.saving .
sherd checkpoint save -q a.safetensors k/b --rank 1 --world 2 --set-id $id
rm k/b.metadata.json
cp b.saving k/
sherd checkpoint wait k/b --timeout 0 2>&1 | sed 's/one [0-9]* s ago/one now/'
