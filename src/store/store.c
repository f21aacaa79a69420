#include <sherd/sys/backend.h>

#include "base/error.h"
#include "codec/crc32.h"
#include "store/places.h"
#include "store/preread.h"

#include <stdlib.h>
#include <time.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

#define PART_MAX 255

/* Names the object of a failure, and the store that a caller knows. */
static int blame(sherd_error *err, int rc, const sherd_store *store, const char *key)
{
	return shd_in_store(err, shd_in_object(err, rc, key), store);
}

/* Why one part of a key is refused, or NULL. */
static const char *part_fault(shd_str part)
{
	if (part.len == 0)
		return "has an empty part";
	if (part.len > PART_MAX)
		return "has a part of more than 255 bytes";
	if (shd_str_is(part, ".") || shd_str_is(part, ".."))
		return "has a part that is \".\" or \"..\"";
	if (shd_str_starts(part, ".sherd-tmp-"))
		return "has a part that is reserved for temporary files";
	return NULL;
}

/* Checks the parts that end with '/', and the last one if it is whole. */
static int check_parts(const char *key, bool last_is_whole, sherd_error *err)
{
	if (strlen(key) > SHERD_MAX_KEY)
		return shd_in_object(
			err, shd_fail(err, SHERD_EINVAL, "bad-key", "key of more than %d bytes", SHERD_MAX_KEY), key);
	const char *fault = NULL, *part = key, *slash;
	for (; !fault && (slash = strchr(part, '/')); part = slash + 1)
		fault = part_fault((shd_str){part, (size_t)(slash - part)});
	if (!fault && last_is_whole)
		fault = part_fault(shd_str_of(part));
	if (fault)
		return shd_in_object(err, shd_fail(err, SHERD_EINVAL, "bad-key", "key %s", fault), key);
	return SHERD_OK;
}

static int store_check_key(const char *key, sherd_error *err)
{
	if (!key)
		return shd_fail(err, SHERD_EINVAL, "bad-key", "no key");
	return check_parts(key, true, err);
}

void sherd_store_close(sherd_store *store)
{
	if (!store)
		return;
	free(store->label);
	store->ops->close(store);
}

int64_t sherd_store_now(sherd_store *store)
{
	struct timespec t = {0};
	if (store->ops->now)
		return store->ops->now(store);
	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

unsigned sherd_store_caps(const sherd_store *store)
{
	return store->ops->caps;
}

int sherd_store_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	TRY(store_check_key(key, err));
	sherd_stat stat = {0};
	TRY(blame(err, store->ops->stat(&stat, store, key, err), store, key));
	*out = stat;
	return SHERD_OK;
}

int sherd_store_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                     sherd_error *err)
{
	prefix = prefix ? prefix : "";
	after = after ? after : "";
	TRY(check_parts(prefix, false, err));
	return blame(err, store->ops->list(store, prefix, after, each, arg, err), store, prefix);
}

int sherd_store_remove(sherd_store *store, const char *key, sherd_error *err)
{
	TRY(store_check_key(key, err));
	return blame(err, store->ops->remove(store, key, NULL, err), store, key);
}

int sherd_store_abandon(uint64_t *count, sherd_store *store, const char *prefix, int64_t age_ns, bool dry_run,
                        sherd_error *err)
{
	uint64_t found = 0;
	prefix = prefix ? prefix : "";
	TRY(check_parts(prefix, false, err));
	if (store->ops->abandon)
		TRY(blame(err, store->ops->abandon(&found, store, prefix, age_ns, dry_run, err), store, prefix));
	*count = found;
	return SHERD_OK;
}

static int check_identity(const char *identity, sherd_error *err)
{
	if (strlen(identity) >= sizeof(((sherd_stat *)0)->identity))
		return shd_fail(err, SHERD_EINVAL, "bad-identity", "no identity is that long");
	return SHERD_OK;
}

int sherd_store_remove_if(sherd_store *store, const char *key, const char *identity, sherd_error *err)
{
	TRY(store_check_key(key, err));
	TRY(blame(err, check_identity(identity, err), store, key));
	return blame(err, store->ops->remove(store, key, identity, err), store, key);
}

static int store_check_folder(const sherd_store *store, const char *key, sherd_error *err)
{
	TRY(store_check_key(key, err));
	if (store->ops->caps & SHERD_CAP_MKDIR)
		return SHERD_OK;
	return blame(err, shd_fail(err, SHERD_EUNSUPPORTED, "no-folders", "this store has no folders"), store, key);
}

int sherd_store_mkdir(sherd_store *store, const char *key, sherd_error *err)
{
	TRY(store_check_folder(store, key, err));
	return blame(err, store->ops->mkdir(store, key, err), store, key);
}

int sherd_store_rmdir(sherd_store *store, const char *key, sherd_error *err)
{
	TRY(store_check_folder(store, key, err));
	return blame(err, store->ops->rmdir(store, key, err), store, key);
}

/* Reading */

int sherd_store_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	TRY(store_check_key(key, err));
	SHD_AUTO_FREE void *copy = strdup(key);
	if (!copy)
		return shd_in_object(err, shd_fail_nomem(err), key);
	sherd_reader *reader = NULL;
	TRY(blame(err, store->ops->read(&reader, store, key, err), store, key));
	reader->key = TAKE(copy);
	reader->store = store;
	*out = reader;
	return SHERD_OK;
}

void sherd_reader_close(sherd_reader *reader)
{
	if (!reader)
		return;
	free(reader->key);
	free(reader->first);
	reader->ops->close(reader);
}

uint64_t sherd_reader_size(const sherd_reader *reader)
{
	return reader->size;
}

const char *sherd_reader_key(const sherd_reader *reader)
{
	return reader->key;
}

const sherd_store *sherd_reader_store(const sherd_reader *reader)
{
	const sherd_store *store = reader->store;
	while (store->around)
		store = store->around;
	return store;
}

const char *sherd_reader_identity(const sherd_reader *reader)
{
	return reader->identity;
}

static int check_range(const sherd_reader *reader, uint64_t offset, size_t len, sherd_error *err)
{
	if (offset <= reader->size && len <= reader->size - offset)
		return SHERD_OK;
	return blame(err,
	             shd_fail_at(err, SHERD_ECORRUPT, "truncated", offset, "%zu bytes wanted, the object ends at %llu",
	                         len, (unsigned long long)reader->size),
	             reader->store, reader->key);
}

int sherd_reader_at(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	TRY(check_range(reader, offset, len, err));
	if (len == 0)
		return SHERD_OK;
	if (offset < reader->first_len && len <= reader->first_len - offset) {
		memcpy(buf, (const char *)reader->first + offset, len);
		return SHERD_OK;
	}
	return blame(err, reader->ops->at(reader, offset, buf, len, err), reader->store, reader->key);
}

int shd_reader_preread(sherd_reader *reader, size_t len, shd_str *out, sherd_error *err)
{
	size_t have = reader->size < len ? (size_t)reader->size : len;
	SHD_AUTO_FREE void *bytes = malloc(have + 1);
	if (!bytes)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(reader, 0, bytes, have, err));
	*out = (shd_str){bytes, have};
	reader->first = TAKE(bytes);
	reader->first_len = have;
	return SHERD_OK;
}

bool sherd_reader_peek(const void **out, const sherd_reader *reader, uint64_t offset, size_t len)
{
	if (!reader->ops->peek || !len || offset > reader->size || len > reader->size - offset)
		return false;
	return reader->ops->peek(out, reader, offset, len);
}

int sherd_reader_check(const sherd_reader *reader, sherd_error *err)
{
	return reader->ops->check ? shd_in_object(err, reader->ops->check(reader, err), reader->key) : SHERD_OK;
}

void sherd_reader_advise(const sherd_reader *reader, uint64_t offset, uint64_t len, sherd_advice advice)
{
	if (!reader->ops->advise || offset >= reader->size)
		return;
	uint64_t room = reader->size - offset;
	reader->ops->advise(reader, offset, len < room ? len : room, advice);
}

bool sherd_reader_cached(const sherd_reader *reader, uint64_t offset, uint64_t len)
{
	if (!reader->ops->cached || offset >= reader->size || !len)
		return true;
	uint64_t room = reader->size - offset;
	return reader->ops->cached(reader, offset, len < room ? len : room);
}

int sherd_store_queue(sherd_queue **out, sherd_store *store, uint64_t ahead, sherd_error *err)
{
	if (!store->ops->queue)
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-direct", "this store has no queues");
	return store->ops->queue(out, store, ahead, err);
}

int sherd_queue_ask(size_t *taken, sherd_queue *queue, const sherd_reader *reader, uint64_t offset, size_t len,
                    sherd_error *err)
{
	TRY(check_range(reader, offset, len, err));
	*taken = 0;
	if (len == 0)
		return SHERD_OK;
	return blame(err, queue->ops->ask(taken, queue, reader, offset, len, err), reader->store, reader->key);
}

int sherd_queue_next(const void **data, size_t *len, sherd_queue *queue, sherd_error *err)
{
	int rc = queue->ops->next(data, len, queue, err);
	return rc < 0 ? blame(err, rc, queue->reader->store, queue->reader->key) : rc;
}

void sherd_queue_close(sherd_queue *queue)
{
	if (queue)
		queue->ops->close(queue);
}

int sherd_reader_map(const void **out, const sherd_reader *reader, uint64_t offset, size_t len, sherd_error *err)
{
	if (!reader->ops->map)
		return blame(err, shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "this store cannot map"), reader->store,
		             reader->key);
	TRY(check_range(reader, offset, len, err));
	if (len == 0) {
		*out = "";
		return SHERD_OK;
	}
	const void *bytes = NULL;
	TRY(blame(err, reader->ops->map(&bytes, reader, offset, len, err), reader->store, reader->key));
	*out = bytes;
	return SHERD_OK;
}

/* Writing */

static int store_check_options(const sherd_write_options *options, sherd_error *err)
{
	if (options->mode != SHERD_WRITE_NEW && options->mode != SHERD_WRITE_REPLACE)
		return shd_fail(err, SHERD_EINVAL, "bad-mode", "no such mode: %d", (int)options->mode);
	if (options->head > SHERD_MAX_HEAD)
		return shd_fail(err, SHERD_EINVAL, "bad-head", "a head of %u bytes, at most %u can be filled",
		                options->head, SHERD_MAX_HEAD);
	if (options->like)
		TRY(store_check_key(options->like, err));
	if (!options->if_identity)
		return SHERD_OK;
	if (options->mode != SHERD_WRITE_REPLACE)
		return shd_fail(err, SHERD_EINVAL, "bad-mode", "only a replacement can ask for an identity");
	return check_identity(options->if_identity, err);
}

int sherd_store_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                      sherd_error *err)
{
	static const sherd_write_options defaults;
	options = options ? options : &defaults;
	TRY(store_check_key(key, err));
	TRY(blame(err, store_check_options(options, err), store, key));
	SHD_AUTO_FREE void *copy = strdup(key);
	if (!copy)
		return shd_in_object(err, shd_fail_nomem(err), key);
	sherd_writer *writer = NULL;
	TRY(blame(err, store->ops->write(&writer, store, key, options, err), store, key));
	writer->key = TAKE(copy);
	writer->store = store;
	writer->length = 0;
	writer->head = options->head;
	writer->failure = (sherd_error){0};
	writer->places = NULL;
	*out = writer;
	return SHERD_OK;
}

int shd_writer_report(const sherd_writer *writer, sherd_error *err)
{
	if (writer->failure.code != SHERD_OK && err)
		*err = writer->failure;
	return writer->failure.code;
}

int shd_writer_stick(sherd_writer *writer, int rc, uint64_t offset, sherd_error *err)
{
	(void)blame(&writer->failure, rc, writer->store, writer->key);
	if (writer->failure.offset == SHERD_NO_OFFSET)
		writer->failure.offset = offset;
	return shd_writer_report(writer, err);
}

int sherd_writer_append(sherd_writer *writer, const void *buf, size_t len, sherd_error *err)
{
	TRY(shd_writer_report(writer, err));
	TRY(shd_places_end(writer, err));
	if (len == 0)
		return SHERD_OK;
	int rc;
	if (len > INT64_MAX - writer->length)
		rc = shd_fail(&writer->failure, SHERD_EINVAL, "too-large", "an object ends below 2^63");
	else
		rc = writer->ops->append(writer, buf, len, &writer->failure);
	if (rc < 0)
		return shd_writer_stick(writer, rc, writer->length, err);
	writer->length += len;
	return SHERD_OK;
}

int sherd_writer_fill(sherd_writer *writer, uint32_t offset, const void *buf, size_t len, sherd_error *err)
{
	TRY(shd_writer_report(writer, err));
	TRY(shd_places_end(writer, err));
	uint64_t end = writer->head < writer->length ? writer->head : writer->length;
	int rc = SHERD_OK;
	if (offset > end || len > end - offset)
		rc = shd_fail(&writer->failure, SHERD_EINVAL, "bad-range",
		              "%zu bytes to fill, but the head that was appended ends at %llu", len,
		              (unsigned long long)end);
	else if (len > 0)
		rc = writer->ops->fill(writer, offset, buf, len, &writer->failure);
	return rc < 0 ? shd_writer_stick(writer, rc, offset, err) : SHERD_OK;
}

int sherd_writer_commit(sherd_writer *writer, sherd_error *err)
{
	if (!writer)
		return shd_fail(err, SHERD_EINVAL, "no-writer", "nothing to commit");
	int rc = shd_writer_report(writer, err);
	if (rc == SHERD_OK)
		rc = shd_places_end(writer, err);
	if (rc < 0) {
		sherd_writer_abort(writer);
		return rc;
	}
	SHD_AUTO_FREE void *key = writer->key;
	const sherd_store *store = writer->store;
	return blame(err, writer->ops->commit(writer, err), store, key);
}

void sherd_writer_abort(sherd_writer *writer)
{
	if (!writer)
		return;
	shd_places_free(writer);
	free(writer->key);
	writer->ops->abort(writer);
}

int sherd_store_put(sherd_store *store, const char *key, sherd_write_mode mode, const void *data, size_t len,
                    sherd_error *err)
{
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	TRY(sherd_store_write(&writer, store, key, &(sherd_write_options){.mode = mode, .size_hint = len}, err));
	TRY(sherd_writer_append(writer, data, len, err));
	return sherd_writer_commit(TAKE(writer), err);
}

int sherd_store_get(char **data, size_t *len, sherd_store *store, const char *key, uint64_t max, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	TRY(sherd_store_read(&reader, store, key, err));
	if (reader->size > max || reader->size >= SIZE_MAX)
		return blame(err,
		             shd_fail(err, SHERD_ELIMIT, "too-large", "%llu bytes, the limit is %llu",
		                      (unsigned long long)reader->size, (unsigned long long)max),
		             store, key);
	size_t size = (size_t)reader->size;
	SHD_AUTO_FREE void *bytes = malloc(size + 1);
	if (!bytes)
		return shd_in_object(err, shd_fail_nomem(err), key);
	TRY(sherd_reader_at(reader, 0, bytes, size, err));
	((char *)bytes)[size] = 0;
	*data = TAKE(bytes);
	*len = size;
	return SHERD_OK;
}

/* Locking */

static int check_lock(const sherd_store *store, const char *key, sherd_lock_mode mode, sherd_error *err)
{
	TRY(store_check_key(key, err));
	if (mode != SHERD_LOCK_SHARED && mode != SHERD_LOCK_EXCLUSIVE)
		return shd_in_object(err, shd_fail(err, SHERD_EINVAL, "bad-mode", "no such lock: %d", (int)mode), key);
	if (!(store->ops->caps & SHERD_CAP_LOCK))
		return shd_in_object(err, shd_fail(err, SHERD_EUNSUPPORTED, "no-lock", "this store cannot lock"), key);
	return SHERD_OK;
}

int sherd_store_lock(sherd_lock **out, sherd_store *store, const char *key, sherd_lock_mode mode, sherd_error *err)
{
	TRY(check_lock(store, key, mode, err));
	sherd_lock *lock = NULL;
	TRY(blame(err, store->ops->lock(&lock, store, key, mode, err), store, key));
	*out = lock;
	return SHERD_OK;
}

int sherd_store_create_locked(sherd_lock **out, sherd_store *store, const char *key, const void *data, size_t len,
                              sherd_lock_mode mode, sherd_error *err)
{
	TRY(check_lock(store, key, mode, err));
	sherd_lock *lock = NULL;
	TRY(blame(err, store->ops->create_locked(&lock, store, key, data, len, mode, err), store, key));
	*out = lock;
	return SHERD_OK;
}

static bool in_one_folder(const char *a, const char *b)
{
	const char *slash = strrchr(a, '/');
	size_t folder = slash ? (size_t)(slash - a) + 1 : 0;
	return strncmp(a, b, folder) == 0 && !strchr(b + folder, '/');
}

int sherd_store_link(sherd_store *store, const char *key, const char *second, sherd_error *err)
{
	TRY(store_check_key(key, err));
	TRY(store_check_key(second, err));
	if (!in_one_folder(key, second))
		return shd_in_object(err, shd_fail(err, SHERD_EINVAL, "bad-key", "the second name is elsewhere"),
		                     second);
	if (!store->ops->link)
		return shd_in_object(
			err, shd_fail(err, SHERD_EUNSUPPORTED, "no-link", "objects of this store have one name"), key);
	return blame(err, store->ops->link(store, key, second, err), store, key);
}

void sherd_lock_release(sherd_lock *lock)
{
	if (lock)
		lock->release(lock);
}

/* For stores of others */

uint32_t sherd_crc32(uint32_t crc, const void *data, size_t len)
{
	return shd_crc32(crc, data, len);
}

uint32_t sherd_crc32_join(uint32_t first, uint32_t second, uint64_t second_len)
{
	return shd_crc32_join(first, second, second_len);
}
