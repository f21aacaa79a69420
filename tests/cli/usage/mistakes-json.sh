sherd --json info | field 'd["error"]["code"]'
sherd info --json --frobnicate a | field 'd["error"]'
sherd frobnicate --json | field 'd["error"]["message"]'
sherd --json
