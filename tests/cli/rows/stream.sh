set-of-rows set
sherd rows stream set
echo "--batch 5"
sherd rows stream set --batch 5
echo "--batch-bytes 130"
sherd rows stream set --batch-bytes 130 --from 30
echo "--batch-bytes 1"
sherd rows stream set --batch-bytes 1 --from 38
echo "--from 6 --limit-batches 3"
sherd rows stream set --batch 5 --from 6 --limit-batches 3
echo "--from 40"
sherd rows stream set --from 40
sherd rows stream set --json --batch 16 --cursor
sherd rows stream set --format text --from 6 --limit-batches 2
sherd rows stream set --format text --ids --from 6 --limit-batches 2
sherd rows stream set --format text --json --from 7 --batch 1 --limit-batches 1
sherd rows stream set --format raw --from 6 --limit-batches 2 | od -An -tfD -w24
sherd rows stream set --format raw --from 6 --limit-batches 2 --dtype f32 | od -An -tfF -w12
sherd rows stream set/c.shard --format text
