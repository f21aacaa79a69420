# S-12: what a terminal would take for a command is escaped, in lines and in JSON, in every command.
bad=$'a\e]0;x\ab\xc2\x85\xc2\x9bc\x7fd\xe2\x80\xaee'
cp "$SHERD_SOURCE/tests/golden/container/tiny.sdc" m.sdc
sherd model meta m.sdc "key=$bad"
sherd model meta m.sdc key
sherd model meta m.sdc
sherd model meta m.sdc key --json
sherd info m.sdc
sherd info m.sdc --json | field 'd["metadata"]["key"] == "a\x1b]0;x\x07b\x85\x9bc\x7fd\u202ee"'
sherd model meta m.sdc "$bad=1"
sherd model meta m.sdc --json
sherd graph create g
echo '{"id":"n","type":"T","name":"\u009b31m\u007f","file":"f"}' | sherd graph import g --nodes - >/dev/null
sherd graph export g --nodes -
sherd graph find g --type UNKNOWN
sherd graph find g --type UNKNOWN --json
{ sherd model meta m.sdc; sherd model meta m.sdc --json; sherd graph export g --nodes -; sherd graph find g --type UNKNOWN --json; } | LC_ALL=C grep -c -P '\x1b|\x07|\x7f|\xc2[\x80-\x9f]'
true
