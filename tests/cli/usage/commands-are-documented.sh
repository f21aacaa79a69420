# The commands of sherd help --list are those of the manual and of the README, in the same order.
commands=$(sherd help --list | cut -f1)
# The index of sherd(1): a group with its commands, a line each.
index=$(sed -n '/^The commands:/,/^\.El/p' "$SHERD_SOURCE/man/sherd.1" | awk '
	/^\.It Cm / { group = $4 == "..." ? $3 " " : ""; if (!group) print $3 }
	/^\.Cm / && group { print group $2 }')
diff <(echo "$commands") <(echo "$index") && echo "the index of sherd(1) is whole"
# Each in the synopsis of the page of its group.
pages=$(for name in $(cut -d' ' -f1 <<<"$commands" | uniq); do
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/s/^\.Nm sherd //p' "$SHERD_SOURCE/man/sherd-$name.1"
done)
diff <(echo "$commands") <(echo "$pages") && echo "every synopsis is whole"
for page in "$SHERD_SOURCE"/man/sherd-*.1; do
	name=$(basename "$page" .1)
	grep -qx "\.Xr $name 1" "$SHERD_SOURCE/man/sherd.1" || echo "sherd(1) does not refer to $name(1)"
done
# The table of the README: | `sherd rows pack` `append` ... | what
readme=$(grep -o '^| `sherd [a-z][^|]*' "$SHERD_SOURCE/README.md" | tr -d '`|' | while read -r _ first rest; do
	if grep -qx "$first" <<<"$commands"; then
		echo "$first"
	else
		printf "$first %s\n" $rest
	fi
done)
diff <(echo "$commands") <(echo "$readme") && echo "the table of the README is whole"
