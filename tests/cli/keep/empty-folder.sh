mkdir run
sherd checkpoint list run
sherd checkpoint list --json run
sherd checkpoint prune run --keep 1
sherd checkpoint list none
echo $?
touch file
sherd checkpoint list file
echo $?
