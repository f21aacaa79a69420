cp "$SHERD_SOURCE"/tests/corpus/samediff_graph/{n_cut_in_half,n_root_outside,n_duplicate_name,n_one_variable_many_times,n_strides,y_op_unknown}.fb .
for name in *.fb; do
	sherd verify $name
	echo "exit $?"
done
mv n_cut_in_half.fb cut
sherd info cut
sherd verify --json n_strides.fb | field '[d["ok"], [e["code"] for e in d["errors"]]]'
sherd model graph --dot --json y_op_unknown.fb | field 'd["error"]["code"]'
