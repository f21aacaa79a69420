# M-11: variables without an operation are tensors, and nothing of them is lost.
cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_small.fb" small.fb
sherd convert small.fb a.safetensors
sherd convert a.safetensors m.sdc
sherd convert m.sdc b.safetensors
sherd cat b.safetensors c
# 64 bits of a number, which readers of JSON numbers would round.
cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_full.fb" full.fb
sherd model graph full.fb --json | field 'd["operations"][0]["number"]'
