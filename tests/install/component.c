/* A program that plugs in a store which a component brings. */
#include <sherd/shelf.h>

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	sherd_store *store = NULL;
	char *key = NULL;
	sherd_error err;
	const sherd_store_options options = {.schemes = sherd_shelf_component()->schemes};
	if (sherd_store_open(&store, &key, "shelf://top/book", &options, &err) < 0 ||
	    sherd_store_put(store, key, SHERD_WRITE_NEW, "text", 4, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	(void)printf("%s%s\n", sherd_store_label(store), key);
	sherd_free(key);
	sherd_store_close(store);
	return 0;
}
