# Ids in the order of delivery. Which of 40 rows a tenth and a quarter are, is known from the hash.
set-of-rows set
ids() { sherd rows stream set --format text --ids "$@" | cut -d' ' -f1 | tr '\n' ' '; }
echo $(ids --sample 0.1)
echo $(ids --sample 0.25)
echo "none: $(ids --sample 0)"
[ "$(ids --sample 1)" = "$(ids)" ] && echo all
[ "$(ids --shuffle 1)" = "$(ids --shuffle 1 --batch 3 --access read)" ] && echo the same seed, the same order
[ "$(ids --shuffle 1)" != "$(ids --shuffle 2)" ] && echo another seed, another order
ids --shuffle 1 | tr ' ' '\n' | sort -n | tr '\n' ' ' | diff - <(seq 0 39 | tr '\n' ' ') && echo every row once
echo windows $(ids --shuffle 1 --shuffle-window 10 | tr ' ' '\n' | awk 'NF { print int($1 / 10) }' | uniq)
[ "$(ids --shuffle 1 --sample 0.25 | tr ' ' '\n' | sort -n | xargs)" = "3 10 18 20 21 33" ] && echo sampled and shuffled
sherd rows stream set --shuffle 1 --format text --ids | awk '$2 != $1 * 3 / 2 { print "row " $1 " is " $2 }'
