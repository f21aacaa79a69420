model m.safetensors
sherd checkpoint save m.safetensors a --shards 2 <&- >&- 2>&-
echo $?
sherd verify a
