# Whatever is asked of it, a folder of residual_shard_bf16 delivers what it delivers once it is packed into such shards.
bf16-folder src 300 40 0 25
sherd rows pack -q src packed
sherd rows stream src
sherd rows cat src --range 39:41 | cut -d' ' -f1-4
sherd rows stream src --format text --ids --from 64 | cut -d' ' -f1-4
same() {
	[ "$(sherd rows stream src "$@")" = "$(sherd rows stream packed "$@")" ] || echo "differs: $*"
}
for access in auto map read direct; do
	same --digest --access $access --window 9K
	same --digest --dtype f32 --access $access --window 1M
	same --set-digest --dtype f32 --access $access --window 1 --batch 7 --shuffle 3
done
same --digest --sample 0.5
sum=$(for rank in 0 1 2; do sherd rows stream src --set-digest --batch 4 --access direct --rank $rank --world 3; done)
[ "$(rows-digest --add $sum)" = "$(sherd rows stream packed --set-digest)" ] && echo "the ranks add up"
cursor=$(sherd rows stream src --batch 9 --limit-batches 2 --cursor 2>&1 >batches)
sherd rows stream src --resume "$cursor" | head -1
