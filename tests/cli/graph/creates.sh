sherd graph create a
sherd graph create deep/er/b --shards 300 --json; echo $?
sherd graph create c --planner directory --min-files 7 --json
sherd graph create a; echo $?
mkdir full && touch full/other && sherd graph create full && ls full
mkdir inside && cd inside && sherd graph create . && sherd info --json . | grep -o '"format":"rfdb"'; cd ..
sherd graph create file:d && sherd info -q file:d --json | grep -o '"version":1'
