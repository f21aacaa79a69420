#include "engine/publish/part.h"

void shd_part_written(shd_part *part, int rc)
{
	part->there = rc != SHERD_EEXIST && rc != SHERD_ECONFLICT;
	part->unknown = rc == SHERD_EUNKNOWN;
}

bool shd_part_remove(shd_part *part, sherd_store *store, const char *key)
{
	sherd_stat stat;
	if (part->there && *part->identity) {
		int rc = sherd_store_remove_if(store, key, part->identity, NULL);
		part->there = rc != SHERD_OK && rc != SHERD_ECONFLICT;
	} else if (part->there && !part->unknown) {
		part->there = sherd_store_stat(&stat, store, key, NULL) != SHERD_ENOTFOUND;
	}
	return !part->there;
}

int shd_part_clear(sherd_store *store, const char *key, const char *seen, sherd_error *err)
{
	int rc = sherd_store_remove_if(store, key, seen, err);
	return rc == SHERD_ECONFLICT || rc == SHERD_ENOTFOUND ? SHERD_OK : rc;
}

int shd_parts_note(shd_buf *list, sherd_store *store, const char *key, sherd_error *err)
{
	sherd_stat stat;
	int rc = sherd_store_stat(&stat, store, key, err);
	if (rc == SHERD_ENOTFOUND)
		return SHERD_OK;
	TRY(rc);
	shd_buf_append(list, key, strlen(key) + 1);
	shd_buf_append(list, stat.identity, strlen(stat.identity) + 1);
	return shd_buf_check(list, err);
}

int shd_parts_clear(const shd_buf *list, sherd_store *store, sherd_error *err)
{
	for (size_t at = 0; at < list->len;) {
		const char *key = (const char *)list->data + at, *identity = key + strlen(key) + 1;
		TRY(shd_part_clear(store, key, identity, err));
		at += strlen(key) + strlen(identity) + 2;
	}
	return SHERD_OK;
}
