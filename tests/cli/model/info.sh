cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_full.fb" full
cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_small.fb" small
sherd info full
sherd model info small
sherd info --json full | field '[d["format"], d["variables"], d["operations"], d["placeholders"], d["losses"], d["updaters"], d["sequences"], d["training"], d["metadata"], [t["name"] for t in d["tensors"]]]'
sherd info --json small
