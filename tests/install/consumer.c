/* A program outside the tree: it sees what is installed and nothing else. */
#include <sherd/sherd.h>
#include <sherd/sys/backend.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int round_trip(sherd_store *store, sherd_error *err)
{
	static const char text[] = "a piece of something larger";
	char *back = NULL;
	size_t len = 0;
	int rc = sherd_store_put(store, "folder/key", SHERD_WRITE_NEW, text, sizeof(text), err);
	if (rc == SHERD_OK)
		rc = sherd_store_get(&back, &len, store, "folder/key", 1024, err);
	if (rc == SHERD_OK && (len != sizeof(text) || memcmp(back, text, len) != 0)) {
		fprintf(stderr, "consumer: the bytes came back changed\n");
		rc = 1;
	}
	sherd_free(back);
	return rc;
}

int main(void)
{
	sherd_error err = {0};
	sherd_store *store = NULL;
	if (strcmp(sherd_version(), SHERD_VERSION) != 0) {
		fprintf(stderr, "consumer: headers %s, library %s\n", SHERD_VERSION, sherd_version());
		return 1;
	}
	int rc = sherd_store_open_memory(&store, &err);
	if (rc == SHERD_OK)
		rc = round_trip(store, &err);
	sherd_store_close(store);
	if (rc < 0)
		fprintf(stderr, "consumer: %s: %s: %s\n", sherd_status_name(err.code), err.object, err.message);
	if (rc == SHERD_OK)
		printf("sherd %s\n", sherd_version());
	return rc == SHERD_OK ? 0 : 1;
}
