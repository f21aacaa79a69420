# Sets, damage, graphs, differences: which sections there are, and how it ends.
sections() { grep -o '<h2[^>]*>[^<]*' "$1" | sed 's/.*>//' | paste -sd,; }
tensors m.safetensors a.w:F32:40x30 b:BF16:9
tensors n.safetensors a.w:F32:40x30 c:BF16:9
sherd checkpoint save m.safetensors ck --shards 2 --quiet
sherd report ck -o ck.html --quiet
echo "exit $?: $(sections ck.html)"
sherd report m.safetensors n.safetensors -o d.html --quiet
echo "exit $?: $(sections d.html)"
grep -o '<li><b>[^/]*</b>[^<]*' d.html
sherd report m.safetensors --quick -o q.html --quiet
echo "exit $?: $(sections q.html)"
flip ck_shard_0.shard -900
sherd report ck -o bad.html --quiet
echo "exit $?: $(sections bad.html)"
grep -o 'CRC-32 [^<]*' bad.html | sort | uniq -c
sherd report m.safetensors ck -o x.html
echo "exit $?"
graph-lines nodes edges 3
sherd graph create g --quiet
sherd graph import g --nodes nodes --edges edges --quiet
sherd report g -o g.html --quiet
echo "exit $?: $(sections g.html)"
grep -o '<b>[0-9.]*%</b> of [^<]*' g.html
sherd report g g -o x.html
echo "exit $?"
set-of-rows rows
sherd report rows -o rows.html --quiet
echo "exit $?: $(sections rows.html)"
tensors e.safetensors
sherd report e.safetensors -o e.html --quiet
echo "exit $?: $(sections e.html)"
