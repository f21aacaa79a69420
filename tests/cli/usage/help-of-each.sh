sherd help --list | cut -f1 | while read -r command; do
	sherd $command --help || exit
	echo
done
