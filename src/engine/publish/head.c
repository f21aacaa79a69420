#include "engine/publish/head.h"

#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

SHERD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
SHERD_AUTO_DEFINE(void, free)

int sherd_head_take(sherd_head *out, const sherd_reader *reader, const sherd_limits *limits, sherd_error *err)
{
	uint64_t size = sherd_reader_size(reader), most = sherd_limits_or_default(limits).metadata_bytes;
	if (size > most)
		return sherd_fail(err, SHERD_ELIMIT, "too-large", "%llu bytes, the limit is %llu",
		                  (unsigned long long)size, (unsigned long long)most);
	SHERD_AUTO(void, free) text = malloc((size_t)size + 1);
	if (!text)
		return sherd_fail_nomem(err);
	TRY(sherd_reader_at(reader, 0, text, (size_t)size, err));
	((char *)text)[size] = 0;
	const char *identity = sherd_reader_identity(reader);
	memcpy(out->identity, identity, strlen(identity) + 1);
	out->len = (size_t)size;
	out->text = TAKE(text);
	return SHERD_OK;
}

int sherd_head_read(sherd_head *out, sherd_store *store, const char *key, const sherd_limits *limits, sherd_error *err)
{
	SHERD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	TRY(sherd_store_read(store, key, &reader, err));
	return sherd_in_object(err, sherd_head_take(out, reader, limits, err), key);
}

bool sherd_head_changed(const sherd_head *head, sherd_store *store, const char *key)
{
	sherd_stat now;
	return sherd_store_stat(store, key, &now, NULL) == SHERD_OK && strcmp(now.identity, head->identity) != 0;
}
