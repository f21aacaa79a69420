# 32 GiB of rows are not read to the end when nobody listens any more.
mkdir big && shard big/a.shard 0x4 0 rows=2147483648 && truncate -s $((32 + 2147483648 * 16)) big/a.shard
for output in "--format text" "--format raw" ""; do
	timeout 60 sherd rows stream big --batch 64 $output | head -c 8 | od -An -tx1
	echo "${PIPESTATUS[0]}"
done
timeout 60 sherd rows cat big | head -1
echo "${PIPESTATUS[0]}"
