model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 3 --step 7 --epoch 2 --learning-rate 0.125 --optimizer adam --field seed=42
show='[d["training"]["step"], d["training"]["epoch"], d["training"]["learningRate"], d["training"]["optimizerType"]]'
describe() { python3 -c "import json,sys; d = json.load(open(sys.argv[1])); print($show, sorted(d['customFields'].items()))" $1.metadata.json; }
describe a
sherd checkpoint load -q a -o all.metadata.json && describe all
sherd checkpoint load -q a -o one.metadata.json --tensor embed && describe one
sherd checkpoint load -q a -o part.metadata.json --rank 1 --world 2 && describe part
sherd checkpoint load -q a -o cut.metadata.json --rank 1 --world 2 --cut && describe cut
sherd convert -q a converted.metadata.json && describe converted
