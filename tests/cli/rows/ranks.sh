# The ranks' set digests add up to the whole, and so do their batches.
set-of-rows set
whole=$(sherd rows stream set --set-digest)
for order in "" "--shuffle 5" "--sample 0.5" "--shuffle 18446744073709551615 --shuffle-window 8"; do
	[ "$order" = "--sample 0.5" ] && whole_of=$(sherd rows stream set --set-digest --sample 0.5) || whole_of=$whole
	for world in 1 2 3 7; do
		for tail in keep pad; do
			parts=$(for ((rank = 0; rank < world; rank++)); do
				sherd rows stream set --batch 4 --set-digest $order --rank $rank --world $world --tail $tail
			done)
			[ "$(rows-digest --add $parts)" = "$whole_of" ] && echo "world $world, $tail $order: the whole"
		done
	done
done
for tail in keep drop pad; do
	echo "$tail"
	for rank in 0 1 2 3; do
		echo "rank $rank:" $(sherd rows stream set --batch 8 --rank $rank --world 4 --tail $tail)
	done
done
