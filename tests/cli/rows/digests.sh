# The digests are those of an independent program, whatever the way of reading.
set-of-rows set
{ read -r values; read -r sum; } < <(rows-digest set)
{ read -r values32; read -r sum32; } < <(rows-digest set f32)
check() {
	[ "$1" = "$2" ] && same=$((same + 1)) || echo "differs: $3"
}
same=0
for how in "" "--access map" "--access read" "--access auto" "--window 1" "--window 4K" "--window 1G" "--batch 1" "--batch 3" \
	"--batch 1000000" "--batch-bytes 24" "--workers 1" "--workers 3"; do
	check "$(sherd rows stream set --digest $how)" "$values" "--digest $how"
	check "$(sherd rows stream set --set-digest $how)" "$sum" "--set-digest $how"
	check "$(sherd rows stream set --digest --dtype f32 $how)" "$values32" "--digest --dtype f32 $how"
	check "$(sherd rows stream set --set-digest --dtype f32 $how)" "$sum32" "--set-digest --dtype f32 $how"
	check "$(sherd rows stream set --set-digest --shuffle 3 $how)" "$sum" "--set-digest --shuffle $how"
done
echo "$same digests are the same"
sherd rows stream set --format raw | sha256sum | cut -d' ' -f1 | grep -cx "$values"
sherd rows stream set --digest --json | field '[d["count"], d["rows"], d["dtype"], d["digest"]]' | grep -c "$values"
sherd rows stream set --set-digest --json --dtype f32 | field '[d["count"], d["rows"], d["dtype"], d["set_digest"]]' | grep -c "$sum32"
sherd rows stream set --digest --from 40
sherd rows stream set --set-digest --from 40
[ "$(sherd rows stream set --digest --shuffle 3)" != "$values" ] && echo another order
