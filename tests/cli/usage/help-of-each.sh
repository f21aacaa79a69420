for command in info verify cat convert "checkpoint save" "checkpoint commit" "checkpoint load" "checkpoint reshard" "checkpoint verify" "checkpoint list" "checkpoint prune" "checkpoint repair" "rows pack" "rows info" "rows stream" "rows cat" "rows verify" "model graph" "model convert"; do
	sherd $command --help || exit
	echo
done
