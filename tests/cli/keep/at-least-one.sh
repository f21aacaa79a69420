mkdir run
sherd checkpoint prune run --keep 0
echo $?
sherd checkpoint prune run
echo $?
