sherd graph create -q db
try() { sherd graph "$@"; echo $?; }
try; try dance; try create; try create x --shards 0; try create x --shards 65536; try create x --planner alphabet
try create x --planner directory --shards 3; try create x --min-files 3
try import db; try import db --nodes; try export db; try export db --nodes - --json
try node db; try node db stranger; try out db stranger; try in db stranger --json
try find db --type a --type-prefix b; try find absent; try stats .
try update db --nodes x; try update db --file x; try delete-file db x; try tag db novalue; try tag db =x; try tag db a=b --remove
try diff db; try diff db x; try diff db 5; try gc db --keep 0
try import absent --nodes x
try export db --nodes both --edges ./both --replace; mkfifo pipe; try export db --nodes pipe --replace
[ -p pipe ] && rm pipe
ls
for option in without-updater salvage drop-graph allow-missing; do sherd convert db x.jsonl --$option; echo $?; done
ls x.jsonl
