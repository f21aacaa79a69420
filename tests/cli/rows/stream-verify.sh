# damage is told with its shard and byte before a row of it is delivered.
set-of-rows set
sherd rows pack set packed --rows-per-shard 10 --quiet
sherd rows stream packed --verify --digest
sherd rows stream packed --digest
printf '\x7f' | dd of=packed/part-00002.shard bs=1 seek=40 conv=notrunc status=none
sherd rows stream packed --batch 5 --verify
echo $?
sherd rows stream packed --verify --shuffle 1 --digest
echo $?
sherd rows stream packed --verify --format npy -o x.npy --json
echo $?
sherd rows gather packed --ids 0,39 --verify
sherd rows gather packed --ids 20 --verify
echo $?
sherd rows stream packed > /dev/null && echo unnoticed
sherd rows stream set --verify
echo $?
ls
