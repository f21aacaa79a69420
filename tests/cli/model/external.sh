cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_no_array.fb" model.v2.fb
sherd verify model.v2.fb
mkdir model.v2_external
cp "$SHERD_SOURCE/tests/corpus/nd4j_array/y_float.bin" model.v2_external/w.bin
sherd verify model.v2.fb
sherd info model.v2.fb
sherd cat model.v2.fb
truncate -s -1 model.v2_external/w.bin
sherd verify model.v2.fb
