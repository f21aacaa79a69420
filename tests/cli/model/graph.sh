cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_full.fb" full.fb
sherd model graph full.fb
sherd model graph --dot full.fb | grep -v 'v[1-9][0-9]* \['
sherd model graph --json full.fb | field 'd["operations"]'
sherd model graph --json full.fb | field '[d["variables"][0], d["variables"][1], d["updaters"], d["sequences"], d["configuration"], d["training"], d["outputs"], d["id"]]'
