try() { sherd info "$1"; echo $?; }
model m.safetensors
mkdir good foreign
sherd checkpoint save -q m.safetensors good/s --shards 2
sherd checkpoint save -q m.safetensors foreign/s --shards 2 --layout csharp
unseal foreign/s.metadata.json
fresh() { rm -rf bad; cp -r "$1" bad; }
edit() { fresh foreign; sed -i "$1" bad/s.metadata.json; try bad/s; }
echo "wrong magic"; fresh good; printf X | dd of=bad/s_shard_0.shard conv=notrunc status=none; try bad/s
echo "wrong rank"; fresh good; cp bad/s_shard_1.shard bad/s_shard_0.shard; try bad/s
echo "cut by 4"; fresh good; truncate -s -4 bad/s_shard_1.shard; try bad/s
echo "alone, cut by 4"; try bad/s_shard_1.shard
echo "empty shard"; fresh good; : > bad/s_shard_1.shard; try bad/s
echo "shard of another set"; fresh good; sherd checkpoint save -q m.safetensors other/s --shards 2 --step 1 --set-id 00112233445566778899aabbccddeeff; cp other/s_shard_1.shard bad/; try bad/s
echo "metadata cut"; fresh good; truncate -s 100 bad/s.metadata.json; try bad/s
echo "hash lost"; fresh good; unseal bad/s.metadata.json; try bad/s
echo "not UTF-8"; edit 's/"run": "demo"/"run": "\xff"/'
echo "leads out"; edit 's,"s_shard_1.shard","../s_shard_1.shard",'
echo "rank twice"; edit 's/"rank": 1/"rank": 0/'
echo "newer"; edit 's/"version": "1.0.0"/"version": "2.0.0"/'
echo "shape"; edit '0,/"shape": \[4/s//"shape": [5/'
echo "type"; edit '0,/"dataType": 1,/s//"dataType": 99,/'
echo "offset"; edit '0,/"offset": [0-9]*/s//"offset": 18446744073709551615/'
echo "nested deep"; fresh foreign; python3 -c 'print("{\"version\":\"1.0.0\",\"x\":" + "[" * 10000)' > bad/s.metadata.json; try bad/s
echo "json"; sherd info --json bad/s; echo $?
