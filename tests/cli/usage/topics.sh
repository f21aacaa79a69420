# Topics, and what was meant.
sherd help exit
sherd help environment
sherd help stores
sherd help names
sherd help formats | grep -E '^(safetensors|checkpoint) '
sherd help types | grep -E '^(F32|BF16|F4|UTF8) '
for words in "help format" inf "checkpoint sav" xyzzy "info --mtach x f" "cat --formt=raw f" "info --qwertz f"; do
	sherd $words
	echo "exit $?"
done
sherd
sherd --progress=loud info x
echo "exit $?"
