#include "support/graph_auto.h"

#include "support/graph_make.h"
#include "support/test.h"

sherd_store *memory(void)
{
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	return store;
}

void assert_stored(sherd_store *store, const sherd_graph *g)
{
	SCOPED_GRAPH again = graph_open(store, "", &(sherd_graph_options){.read_only = true});
	assert_same_graph(again, g);
}
