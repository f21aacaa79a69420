#include "engine/publish/head.h"

#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
SHD_AUTO_DEFINE(void, free)

int shd_head_take(shd_head *out, const sherd_reader *reader, const sherd_limits *limits, sherd_error *err)
{
	uint64_t size = sherd_reader_size(reader), most = shd_limits_or_default(limits).metadata_bytes;
	if (size > most)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "%llu bytes, the limit is %llu",
		                (unsigned long long)size, (unsigned long long)most);
	SHD_AUTO(void, free) text = malloc((size_t)size + 1);
	if (!text)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(reader, 0, text, (size_t)size, err));
	((char *)text)[size] = 0;
	const char *identity = sherd_reader_identity(reader);
	memcpy(out->identity, identity, strlen(identity) + 1);
	out->len = (size_t)size;
	out->text = TAKE(text);
	return SHERD_OK;
}

int shd_head_read(shd_head *out, sherd_store *store, const char *key, const sherd_limits *limits, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	TRY(sherd_store_read(store, key, &reader, err));
	return shd_in_object(err, shd_head_take(out, reader, limits, err), key);
}

bool shd_head_changed(const shd_head *head, sherd_store *store, const char *key)
{
	sherd_stat now;
	return sherd_store_stat(store, key, &now, NULL) == SHERD_OK && strcmp(now.identity, head->identity) != 0;
}
