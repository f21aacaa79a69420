# Every epoch has its own order, the cursor knows it, and what is padded does not depend on a resume.
set-of-rows set
digest() {
	sherd rows stream set --shuffle 42 --digest "$@"
}
[ "$(digest)" = "$(digest --epoch 0)" ] && echo "epoch 0 is the order of before"
[ "$(digest --epoch 1)" != "$(digest)" ] && [ "$(digest --epoch 1)" != "$(digest --epoch 2)" ] && echo "others differ"
[ "$(digest --set-digest 2> /dev/null; sherd rows stream set --shuffle 42 --set-digest)" = \
	"$(sherd rows stream set --shuffle 42 --epoch 3 --set-digest)" ] && echo "with the same rows"
sherd rows stream set --shuffle 42 --epoch 5 --batch 9 --limit-batches 2 --cursor --format text --ids > first 2> cursor
sherd rows stream set --shuffle 42 --resume "$(cat cursor)" --format text --ids > rest
cat first rest | cmp - <(sherd rows stream set --shuffle 42 --epoch 5 --format text --ids) && cut -d: -f1-8 cursor
# half of the last round is padding: the first batches, resumed or not.
for rank in 2 3; do
	sherd rows stream set --batch 8 --rank $rank --world 4 --tail pad --limit-batches 1 --cursor 2> cursor > head
	sherd rows stream set --rank $rank --world 4 --tail pad --resume "$(cat cursor)" | cat head - > resumed
	sherd rows stream set --batch 8 --rank $rank --world 4 --tail pad | diff - resumed && tail -1 resumed
done
