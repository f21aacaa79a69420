model m.safetensors
sherd checkpoint save -q m.safetensors step-1 --layout csharp --optimizer-state "{}"
unseal step-1.metadata.json
sed -i 's/"optimizerState": {}/"optimizerState": {"big": 340282366920938463463374607431768211457, "x": 0.10}/' step-1.metadata.json
sed -i 's/"worldSize"/"someday": {"n": 18446744073709551617},\n  "worldSize"/' step-1.metadata.json
sherd info --json step-1 | field 'd["format"]'
sherd info --json step-1 | grep -o '"optimizerState":{[^}]*}'
sherd info --json step-1 | grep -o '"extra":{[^}]*}'
