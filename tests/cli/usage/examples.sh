# The examples of every page of the manual work as they stand there. Those of s3:// need a server: make interop-s3.
jq() { cat; }
dot() { cat; }
openssl() { echo 0123456789abcdef0123456789abcdef; }
prepare() { # the files that examples speak of
	tensors model.safetensors embed.weight:F32:4x3 head:F32:6 layers.0.weight:F32:2x2
	sherd checkpoint save model.safetensors ckpt/step-100 --shards 2 --quiet
	for day in activations monday tuesday; do
		tensors $day.npy x:F32:40x3
	done
	tensors wednesday.safetensors x:F32:40x3
	for R in 0 1 2 3; do
		tensors part$R.safetensors "w$R:F32:4"
	done
	tensors base.safetensors w:F32:2 v:F32:2
	tensors adapter.safetensors w:F32:2
	tensors w.safetensors w0:F32:2x2
	sherd convert w.safetensors model.fb --quiet
	sherd convert model.safetensors model.gguf --quiet
	graph-lines nodes.jsonl edges.jsonl 3
	echo '{"id":"src/auth/login.ts->FUNCTION->login","nodeType":"FUNCTION","name":"login","file":"src/auth/login.ts"}' >>nodes.jsonl
	echo '{"id":"login","nodeType":"FUNCTION","name":"login","file":"src/auth/login.ts"}' >n.jsonl
	: >e.jsonl
}
count=0
mkdir files && cd files && prepare && cd ..
for page in "$SHERD_SOURCE"/man/*.1; do
	name=$(basename "$page" .1)
	cp -r files "$name"
	cd "$name"
	while IFS= read -r line; do
		case $line in
		*s3://*) continue ;;
		"sherd rows pack"*) rm -rf set ;;
		"sherd checkpoint save model.safetensors ckpt/"*) rm -rf ckpt ;;
		"sherd convert ckpt/step-100 model.safetensors") line="$line --replace" ;;
		*code.jsonl) sherd graph create code.rfdb --quiet && sherd graph import code.rfdb --nodes nodes.jsonl --edges edges.jsonl --quiet ;;
		*'-o part0.safetensors'*) rm part0.safetensors ;;
		*big.safetensors.index.json*) rm -f big* ;;
		*'part$R'*) line="for R in 0 1 2 3; do $line; done" ;;
		esac
		count=$((count + 1))
		eval "$line" >out 2>err || { echo "$name: $line: exit $?"; cat err; }
	done < <(sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/s/^\.Dl //p' "$page" | sed 's/\\(dq/"/g; s/\\&//g; s/\\-/-/g')
	cd ..
done
[ "$count" -gt 40 ] && echo "all examples work"
