# One process writes at a time; others read meanwhile.
sherd graph create -q db
sherd graph import -q db --nodes <(echo '{"id":"a","file":"f"}')
mkfifo pipe
sherd graph import db --nodes pipe >first 2>&1 &
exec 3>pipe
until [ -e first ]; do sleep 0.01; done
for i in $(seq 500); do flock -n db/LOCK true || break; sleep 0.01; done
sherd graph import db --nodes - </dev/null; echo $?
sherd graph compact db --json; echo $?
sherd graph gc db; echo $?
sherd graph find db
sherd graph delete-file db f --wait 1m >waited 2>&1 3>&- &
echo '{"id":"b","file":"g"}' >&3
exec 3>&-
wait
cat first waited
sherd graph find db | wc -l
