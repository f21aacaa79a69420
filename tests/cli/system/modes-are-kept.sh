# M-6: what is written anew stays closed to others, whatever writes it.
umask 022
quiet() { "$@" >/dev/null || echo "$* failed"; }
cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_small.fb" small.fb
chmod 644 small.fb
quiet sherd convert small.fb m.sdc
quiet sherd model split m.sdc set --shards 2
quiet sherd convert small.fb m.safetensors --drop-graph
quiet sherd convert small.fb m.npy --drop-graph
quiet sherd convert small.fb m.fb
quiet sherd convert small.fb m.sdnb
quiet sherd convert small.fb m.sdz
quiet sherd checkpoint save m.safetensors ck
chmod 600 m.* set.* ck*
quiet sherd model meta m.sdc a=b
quiet sherd convert small.fb m.fb --replace
quiet sherd model meta m.sdnb a=b
quiet sherd model meta m.sdz a=b
quiet sherd model meta set a=b
quiet sherd convert m.safetensors m.npy --replace
quiet sherd convert m.npy m.safetensors --replace
quiet sherd checkpoint save m.safetensors ck --replace
for f in m.* set.* ck*; do stat -c '%a %n' "$f"; done | sed 's/ck_shard_0\..*\.shard/ck_shard_0.SET.shard/'
quiet sherd model split m.fb set --shards 3 --replace
for f in set.*; do stat -c '%a %n' "$f"; done
quiet sherd convert m.safetensors i.safetensors.index.json
quiet sherd convert m.safetensors folder/
chmod 600 i* folder/*
quiet sherd convert m.safetensors i.safetensors.index.json --replace
quiet sherd convert m.safetensors folder/ --replace
stat -c '%a' i* folder/* | sort | uniq -c | tr -s ' '
graph-lines nodes.jsonl edges.jsonl
quiet sherd graph create g
quiet sherd graph import g --nodes nodes.jsonl --edges edges.jsonl
find g -type f -exec chmod 600 {} +
echo '{"id":"f","type":"FILE","name":"f","file":"src/f.c"}' >more.jsonl
quiet sherd graph import g --nodes more.jsonl
quiet sherd graph compact g
find g -type f -exec stat -c '%a' {} + | sort | uniq -c | tr -s ' '
