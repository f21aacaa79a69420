cp "$SHERD_SOURCE/tests/golden/container/inside.sdc" "$SHERD_SOURCE/tests/corpus/container/y_graph_inside_odd.sdc" .
mv y_graph_inside_odd.sdc odd.sdc
sherd model graph odd.sdc
sherd model graph --dot inside.sdc
sherd model graph --json inside.sdc | field '[[g["name"], [v["name"] for v in g["variables"]], g["operations"][0]["inputs"], [i["name"] for i in g.get("graphs", [])]] for g in d["graphs"]]'
sherd model graph --json inside.sdc | field 'd["graphs"][0]["graphs"][0]["variables"][1]'
sherd info --json inside.sdc | field 'd["graphs"]'
sherd cat inside.sdc @graph/loop/graph/body/variable/step
sherd verify inside.sdc odd.sdc
sherd verify --json odd.sdc | field '[[w["object"], w["code"]] for w in d["warnings"]]'
