model m.safetensors
sherd info $'no\nsuch\e[31m\xff'
sherd info --json $'no\nsuch\e[31m\xff'
