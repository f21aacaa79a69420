for command in info verify cat convert "checkpoint save" "checkpoint commit" "checkpoint wait" "checkpoint load" "checkpoint reshard" "checkpoint verify" "checkpoint list" "checkpoint prune" "checkpoint remove" "checkpoint repair" "rows pack" "rows append" "rows index" "rows info" "rows stream" "rows cat" "rows verify" "graph create" "graph import" "graph export" "graph node" "graph find" "graph out" "graph in" "graph neighbours" "graph walk" "graph plan" "graph update" "graph delete-file" "graph delete-node" "graph delete-edge" "graph stats" "graph compact" "graph gc" "graph repair" "graph reshard" "graph versions" "graph tag" "graph diff" "graph verify" "model graph" "model convert"; do
	sherd $command --help || exit
	echo
done
