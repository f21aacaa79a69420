cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_no_array.fb" model.fb
for to in out.sdc out.fb out.sdnb out.sdz; do
	sherd convert model.fb $to
	echo "exit $?"
done
sherd convert --json model.fb out.sdc | field 'd["error"]["code"]'
sherd convert model.fb out.safetensors --drop-graph
sherd model split model.fb out --shards 2
sherd checkpoint save model.fb ck --drop-graph
echo "exit $?"
ls
mkdir model_external elsewhere
cp "$SHERD_SOURCE/tests/corpus/nd4j_array/y_float.bin" elsewhere/w.bin
mkdir inside && mv model.fb model_external inside
ln -s ../../elsewhere/w.bin inside/model_external/w.bin
sherd convert inside/model.fb out.sdc
echo "exit $?"
sherd convert inside/model.fb out.sdc --allow-missing
sherd info out.sdc
sherd model split inside/model.fb none --shards 1 --allow-missing
cp --remove-destination elsewhere/w.bin inside/model_external/w.bin
sherd convert inside/model.fb whole.sdc && sherd cat whole.sdc w
