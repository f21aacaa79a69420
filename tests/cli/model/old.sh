cp "$SHERD_SOURCE"/tests/corpus/samediff_graph/{y_beta2,y_beta3,y_beta2_only_custom,n_before_beta2,n_year_2017,n_snapshot,n_snapshot_shifted}.fb .
cp "$SHERD_SOURCE"/tests/corpus/nd4j_array/{y_javacpp,y_long_shape,y_heap,n_javacpp_offset}.bin .
for name in n_*; do
	sherd info $name
	echo "exit $?"
done
sherd info y_beta3.fb
sherd model graph y_beta2.fb
sherd cat y_beta3.fb p
sherd verify y_beta2.fb
sherd verify y_beta3.fb
for name in y_*.bin; do
	sherd cat $name
done
sherd convert y_beta3.fb three.fb
echo "exit $?"
sherd convert y_beta3.fb three.sdc && sherd cat three.sdc p && sherd model graph three.sdc | head -3
sherd convert three.sdc three.sdz
echo "exit $?"
sherd convert y_beta2_only_custom.fb two.fb && sherd cat two.fb p && sherd verify two.fb
cp y_javacpp.bin w.bin && mkdir deep_external && cp w.bin deep_external/w.bin
cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_no_array.fb" deep.fb
sherd cat deep.fb w
