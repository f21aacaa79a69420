# Rows are one tensor for whatever takes tensors.
set-of-rows set
sherd convert -q set out.npy && sherd info --json out.npy | field '[d["tensors"][0]["dtype"], d["tensors"][0]["shape"]]'
cmp <(sherd cat out.npy) <(sherd cat set) && echo the same values
sherd convert -q set out.safetensors && cmp <(sherd cat out.safetensors rows) <(sherd cat set) && echo the same values
sherd checkpoint save -q set ck --shards 3 --cut && cmp <(sherd cat ck) <(sherd cat set) && echo the same values
sherd rows pack -q out.npy again --rows-per-shard 9
cmp <(sherd rows stream again --digest) <(sherd rows stream set --digest) && echo the same digest
