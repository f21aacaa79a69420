# A folder in which nothing is a shard of rows is refused as a set of rows by its first shard, or as empty.
mkdir none bad && shard bad/a.shard 1x2 0 magic=0011223344556677
for command in info stream cat; do
	for folder in none bad; do
		sherd rows $command $folder
		echo "$? $command $folder"
	done
done
(cd none && sherd rows info .; echo $?)
(cd bad && sherd rows info .; echo $?)
sherd rows info bad/a.shard
echo $?
sherd rows pack bad out
echo $?
