# A stream in two parts is the whole, also on another number of ranks.
set-of-rows set
for order in "" "--shuffle 9" "--sample 0.6" "--shuffle 9 --shuffle-window 12 --sample 0.6"; do
	whole=$(sherd rows stream set --batch 3 --format text --ids $order | sha256sum)
	for count in 1 4; do
		part=$( (sherd rows stream set --batch 3 --format text --ids $order --limit-batches $count --cursor 2> cursor
			sherd rows stream set --format text --ids $order --resume "$(cat cursor)") | sha256sum)
		[ "$part" = "$whole" ] && echo "$count batches, then the rest: $order"
	done
	# Two ranks have two batches each, then three ranks go on.
	first=$(for rank in 0 1; do
		sherd rows stream set --batch 3 $order --rank $rank --world 2 --limit-batches 2 --set-digest --cursor 2> cursor-$rank
	done)
	cmp cursor-0 cursor-1
	then=$(for rank in 0 1 2; do sherd rows stream set $order --rank $rank --world 3 --resume "$(cat cursor-0)" --set-digest; done)
	[ "$(rows-digest --add $first $then)" = "$(sherd rows stream set --set-digest $order)" ] && echo "two ranks, then three: $order"
done
sherd rows stream set --batch 3 --limit-batches 2 --json --cursor | field 'd["cursor"]' > json
sherd rows stream set --batch 3 --limit-batches 2 --cursor 2> line > lines
diff json line
sherd rows stream set --digest --cursor 2> end > digest
sherd rows stream set --resume "$(cat end)"
cat end
for bad in nonsense "" "$(tr 3 4 < line)" "$(sed 's/.$//' line)" "$(cat line)x"; do
	sherd rows stream set --resume "$bad"
	echo $?
done
sherd rows stream set --resume "$(cat line)" --shuffle 1
echo $?
sherd rows stream set --resume "$(cat line)" --batch 4
echo $?
sherd rows stream set/d.shard --resume "$(cat line)"
echo $?
