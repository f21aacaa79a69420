#include "support/memory_store.h"

sherd_store *store;

int memory_store_open(void **state)
{
	(void)state;
	return sherd_store_open_memory(&store, NULL);
}

int memory_store_close(void **state)
{
	(void)state;
	sherd_store_close(store);
	return 0;
}
