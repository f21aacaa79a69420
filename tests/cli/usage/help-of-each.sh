for command in info verify cat convert "checkpoint save" "checkpoint commit" "checkpoint load" "checkpoint reshard" "checkpoint verify" "checkpoint list" "checkpoint prune" "checkpoint repair" "model graph" "model convert"; do
	sherd $command --help || exit
	echo
done
