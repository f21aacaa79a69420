# Completion of the command sherd for bash: commands, options, values where they are known, files.

_sherd_options() {
	local common="--json --quiet --workers --help"
	case $1 in
	"checkpoint commit" | "checkpoint list" | "checkpoint remove") echo "$common" ;;
	"model info") echo "$common" ;;
	info | "checkpoint info") echo "--partial $common" ;;
	verify | "model verify" | "checkpoint verify") echo "--quick $common" ;;
	cat | "checkpoint cat") echo "--range --format --partial $common" ;;
	"model cat") echo "--range --format $common" ;;
	convert)
		echo "--to --shards --compress --partial --replace --drop-graph --drop-metadata --without-updater --salvage --allow-missing $common"
		;;
	"model convert")
		echo "--to --shards --compress --replace --drop-graph --drop-metadata --without-updater --salvage --allow-missing $common"
		;;
	"model meta") echo "--remove $common" ;;
	"model split") echo "--shards --compress --replace --without-updater --allow-missing $common" ;;
	"model join") echo "--compress --replace --without-updater --allow-missing $common" ;;
	"model graph") echo "--dot $common" ;;
	"checkpoint save")
		echo "--shards --cut --replace --take-over --take-over-after --layout --rank --world --split --piece --set-id --drop-graph --allow-missing --field --step --epoch" \
			"--learning-rate --optimizer --optimizer-state --strategy --strategy-info --precision --ddp-rank $common"
		;;
	"checkpoint load") echo "--output --tensor --rank --world --cut --partial --replace $common" ;;
	"checkpoint wait") echo "--timeout --set-id $common" ;;
	"checkpoint reshard") echo "--shards --cut --layout --replace $common" ;;
	"checkpoint prune") echo "--keep --waiting-older-than --orphaned --damaged --dry-run $common" ;;
	"checkpoint repair") echo "--set-id --replace $common" ;;
	"rows pack") echo "--rows-per-shard --tensor --dtype --store --layout $common" ;;
	"rows append") echo "--rows-per-shard --tensor --dtype $common" ;;
	"rows index") echo "--replace $common" ;;
	"rows info") echo "--incomplete $common" ;;
	"rows stream")
		echo "--batch --batch-bytes --from --rank --world --tail --sample --shuffle --shuffle-window --epoch --dtype" \
			"--window --access --resume --cursor --limit-batches --format --output --replace --ids --digest" \
			"--set-digest --verify --incomplete $common"
		;;
	"rows gather") echo "--ids --ids-from --dtype --verify --format --output --replace $common" ;;
	"rows cat") echo "--range --format $common" ;;
	"rows verify") echo "--quick $common" ;;
	"graph create" | "graph plan") echo "--shards --planner --min-files $common" ;;
	"graph reshard") echo "--shards --planner --min-files --at $common" ;;
	"graph import") echo "--nodes --edges --skip-unknown --wait $common" ;;
	"graph export") echo "--nodes --edges --replace --at $common" ;;
	"graph update") echo "--file --nodes --edges --wait $common" ;;
	"graph find") echo "--type --file --name --type-prefix --file-prefix --name-prefix --limit --count --at $common" ;;
	"graph out" | "graph in") echo "--type --limit --count --at $common" ;;
	"graph neighbours") echo "--direction --type --limit --at $common" ;;
	"graph walk") echo "--direction --depth --type --limit --at $common" ;;
	"graph delete-file" | "graph delete-node" | "graph delete-edge" | "graph compact") echo "--wait $common" ;;
	"graph node" | "graph stats") echo "--at $common" ;;
	"graph gc") echo "--keep --untag --dry-run --wait $common" ;;
	"graph tag") echo "--at --remove --wait $common" ;;
	"graph verify") echo "--quick $common" ;;
	"graph repair") echo "--dry-run $common" ;;
	"graph "*) echo "$common" ;;
	checkpoint | rows | graph | model) echo "--help" ;;
	*) echo "$common --version" ;;
	esac
}

_sherd() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= word i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $command:$word in
		*:--workers) ((i++)) ;;
		*:-*) ;;
		:*) command=$word ;;
		checkpoint:* | rows:* | graph:* | model:*) command="$command $word" ;;
		esac
	done
	case $command:$previous in
	"rows stream:--format") mapfile -t COMPREPLY < <(compgen -W "list text raw npy" -- "$current") && return ;;
	"rows stream:--dtype" | "rows gather:--dtype") mapfile -t COMPREPLY < <(compgen -W "f64 f32 f16 bf16" -- "$current") && return ;;
	"rows gather:--ids") return ;;
	"rows pack:--store") mapfile -t COMPREPLY < <(compgen -W "f32 f16 bf16" -- "$current") && return ;;
	"rows pack:--layout") mapfile -t COMPREPLY < <(compgen -W "sherd residual_shard_bf16" -- "$current") && return ;;
	"rows pack:--dtype" | "rows append:--dtype") mapfile -t COMPREPLY < <(compgen -W "bf16" -- "$current") && return ;;
	"rows stream:--tail") mapfile -t COMPREPLY < <(compgen -W "keep drop pad" -- "$current") && return ;;
	"rows stream:--access") mapfile -t COMPREPLY < <(compgen -W "auto map read direct" -- "$current") && return ;;
	esac
	case $previous in
	--format) mapfile -t COMPREPLY < <(compgen -W "text raw npy" -- "$current") && return ;;
	--to) mapfile -t COMPREPLY < <(compgen -W "$(sherd convert --help | sed -n 's/^  \([^ -][^ ]*\)  *DST.*/\1/p') jsonl rfdb" -- "$current") && return ;;
	--compress) mapfile -t COMPREPLY < <(compgen -W "none deflate deflate:6 deflate:12" -- "$current") && return ;;
	--direction) mapfile -t COMPREPLY < <(compgen -W "out in both" -- "$current") && return ;;
	--planner) mapfile -t COMPREPLY < <(compgen -W "hash directory" -- "$current") && return ;;
	--layout) mapfile -t COMPREPLY < <(compgen -W "sherd csharp" -- "$current") && return ;;
	--workers | --range | --shards | --rank | --world | --set-id | --field | --step | --epoch | --learning-rate | \
		--optimizer | --tensor | --keep | --rows-per-shard | --batch | --batch-bytes | --from | --sample | --shuffle | \
		--shuffle-window | --window | --resume | --limit-batches | --remove | --min-files | --at | --limit | --depth | --wait | --type | --name | --type-prefix | \
		--name-prefix) return ;;
	esac
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_sherd_options "$command")" -- "$current")
	elif [[ -z $command ]]; then
		mapfile -t COMPREPLY < <(compgen -W "info verify cat convert checkpoint rows graph model help" -- "$current")
	elif [[ $command == checkpoint ]]; then
		mapfile -t COMPREPLY < <(compgen -W "save commit wait load reshard info cat verify list prune remove repair" -- "$current")
	elif [[ $command == rows ]]; then
		mapfile -t COMPREPLY < <(compgen -W "pack append index info stream gather cat verify" -- "$current")
	elif [[ $command == graph ]]; then
		mapfile -t COMPREPLY < <(compgen -W "create import export node find out in neighbours walk plan update delete-file delete-node delete-edge stats compact gc \
			repair reshard versions tag diff verify" -- "$current")
	elif [[ $command == model ]]; then
		mapfile -t COMPREPLY < <(compgen -W "info verify cat convert graph meta split join" -- "$current")
	else
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	fi
}

complete -F _sherd sherd
